//! Food and drinks.

use crate::{
    function::{Function, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("breakfast", BREAKFASTS),
    word("dessert", DESSERTS),
    word("dinner", DINNERS),
    word("drink", DRINKS),
    word("fruit", FRUITS),
    word("lunch", LUNCHES),
    word("snack", SNACKS),
    word("vegetable", VEGETABLES),
];

const BREAKFASTS: Words = words(
    "Apple porridge, Baked beans on toast, Buckwheat pancakes, Cheese omelette, Fried eggs with tomatoes, \
     Granola with yogurt, Muesli with berries, Poached eggs, Rye bread with cheese, Scrambled eggs, \
     Semolina with plums",
);
const DESSERTS: Words = words(
    "Apple crumble, Carrot cake, Cherry strudel, Chocolate mousse, Creme caramel, Fruit salad, Lemon tart, \
     Panna cotta, Pear sorbet, Plum dumplings, Poppy seed cake, Rice pudding, Tiramisu, Walnut brownies",
);
const DINNERS: Words = words(
    "Bean stew, Beef goulash, Chicken with rice, Fish pie, Grilled trout, Lentil curry, Mushroom risotto, \
     Roast potatoes with herbs, Spinach lasagne, Stuffed peppers, Tomato noodles, Vegetable couscous",
);
const DRINKS: Words = words(
    "Apple juice, Cocoa, Coffee, Elderflower lemonade, Espresso, Ginger ale, Green tea, Iced tea, Mineral \
     water, Soda, Tonic, Water",
);
const FRUITS: Words = words(
    "Apple, Apricot, Banana, Blackberry, Cherry, Currant, Date, Fig, Gooseberry, Grape, Guava, Kiwi, Lemon, \
     Lime, Mango, Melon, Nectarine, Orange, Papaya, Peach, Pear, Plum, Quince, Raspberry, Strawberry",
);
const LUNCHES: Words = words(
    "Barley soup, Cheese sandwich, Chickpea salad, Cucumber rolls, Falafel, Leek quiche, Noodle soup, Onion \
     tart, Pea soup, Potato salad, Pumpkin soup, Tomato soup, Vegetable wrap",
);
const SNACKS: Words = words(
    "Almonds, Apple rings, Breadsticks, Crackers, Dried mango, Olives, Peanuts, Popcorn, Pretzels, Rice \
     cakes, Roasted chickpeas",
);
const VEGETABLES: Words = words(
    "Artichoke, Asparagus, Beetroot, Broccoli, Cabbage, Carrot, Cauliflower, Celery, Cucumber, Fennel, \
     Garlic, Kale, Leek, Lettuce, Onion, Parsnip, Pea, Potato, Pumpkin, Radish, Spinach, Turnip",
);
