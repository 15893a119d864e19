//! Animals.

use crate::{
    function::{Function, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("animal", ANIMALS),
    word("animalType", KINDS),
    word("bird", BIRDS),
    word("cat", CATS),
    word("dog", DOGS),
    word("farmAnimal", ON_FARMS),
    word("petName", NAMES),
];

pub(super) const ANIMALS: Words = words(
    "badger, bat, bear, beaver, bison, camel, dolphin, elk, fox, frog, giraffe, hare, hedgehog, jaguar, \
     koala, lemur, lynx, marten, mole, moose, otter, panda, rhino, seal, squirrel, tapir, walrus, whale, \
     wolf, zebra",
);
const KINDS: Words = words("amphibians, birds, fish, insects, mammals, reptiles, spiders");
const BIRDS: Words = words(
    "albatross, blackbird, bullfinch, crane, cuckoo, eagle, falcon, finch, heron, kestrel, kingfisher, \
     lark, magpie, nightingale, owl, pelican, puffin, raven, robin, sparrow, starling, stork, swallow, \
     swift, wren",
);
const CATS: Words = words(
    "Abyssinian, Balinese, Birman, Bombay, British Shorthair, Burmese, Chartreux, Maine Coon, Manx, \
     Norwegian Forest Cat, Persian, Ragdoll, Russian Blue, Siamese, Siberian, Somali, Tonkinese",
);
const DOGS: Words = words(
    "Akita, Basset Hound, Beagle, Border Collie, Boxer, Collie, Dachshund, Dalmatian, Greyhound, Labrador \
     Retriever, Newfoundland, Poodle, Pug, Samoyed, Schnauzer, Sheltie, Spaniel, Whippet",
);
const ON_FARMS: Words =
    words("Chicken, Cow, Donkey, Duck, Goat, Goose, Horse, Llama, Pig, Rabbit, Sheep, Turkey");
const NAMES: Words = words(
    "Acorn, Biscuit, Button, Clover, Comet, Dusty, Fern, Ginger, Hazel, Maple, Mango, Nutmeg, Pebble, \
     Pepper, Pickle, Rusty, Sooty, Sparky, Waffle, Whiskers",
);
