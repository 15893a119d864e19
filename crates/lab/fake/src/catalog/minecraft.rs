//! Things in Minecraft.

use crate::{
    function::{Function, word},
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("minecraftAnimal", ANIMALS),
    word("minecraftArmorPart", ARMOR_PARTS),
    word("minecraftArmorTier", ARMOR_TIERS),
    word("minecraftBiome", BIOMES),
    word("minecraftDye", DYES),
    word("minecraftFood", FOODS),
    word("minecraftMobBoss", BOSSES),
    word("minecraftMobHostile", HOSTILE),
    word("minecraftMobNeutral", NEUTRAL),
    word("minecraftMobPassive", PASSIVE),
    word("minecraftOre", ORES),
    word("minecraftTool", TOOLS),
    word("minecraftVillagerJob", JOBS),
    word("minecraftVillagerLevel", LEVELS),
    word("minecraftVillagerStation", STATIONS),
    word("minecraftWeapon", WEAPONS),
    word("minecraftWeather", WEATHERS),
    word("minecraftWood", WOODS),
];

const ANIMALS: Words =
    words("axolotl, chicken, cow, donkey, fox, goat, horse, llama, pig, rabbit, sheep, turtle");
const ARMOR_PARTS: Words = words("boots, chestplate, helmet, leggings");
const ARMOR_TIERS: Words = words("chainmail, diamond, gold, iron, leather, netherite");
const BIOMES: Words =
    words("badlands, beach, desert, forest, jungle, mountain, ocean, plain, river, savanna, swamp, taiga");
const DYES: Words = words(
    "black, blue, brown, cyan, gray, green, light blue, light gray, lime, magenta, orange, pink, purple, \
     red, white, yellow",
);
const FOODS: Words = words(
    "apple, baked potato, beetroot, bread, carrot, cookie, melon slice, pumpkin pie, rabbit stew, sweet \
     berry",
);
const BOSSES: Words = words("ender dragon, wither");
const HOSTILE: Words = words(
    "blaze, creeper, evoker, ghast, guardian, phantom, pillager, shulker, skeleton, slime, witch, zombie",
);
const NEUTRAL: Words =
    words("bee, dolphin, enderman, iron golem, llama, panda, piglin, polar bear, spider, wolf");
const PASSIVE: Words = words(
    "bat, cat, chicken, cod, cow, mooshroom, ocelot, parrot, pig, rabbit, salmon, sheep, squid, strider",
);
const ORES: Words =
    words("coal, copper, diamond, emerald, gold, iron, lapis lazuli, nether quartz, redstone");
const TOOLS: Words = words("axe, fishing rod, flint and steel, hoe, pickaxe, shears, shovel");
const JOBS: Words = words(
    "armourer, butcher, cartographer, cleric, farmer, fisherman, fletcher, leatherworker, librarian, mason, \
     shepherd, toolsmith, weaponsmith",
);
const LEVELS: Words = words("apprentice, expert, journeyman, master, novice");
const STATIONS: Words = words(
    "barrel, blast furnace, brewing stand, cartography table, cauldron, composter, fletching table, \
     grindstone, lectern, loom, smithing table, smoker, stonecutter",
);
const WEAPONS: Words = words("axe, bow, crossbow, mace, sword, trident");
const WEATHERS: Words = words("clear, rain, snow, thunder");
const WOODS: Words = words("acacia, birch, cherry, dark oak, jungle, mangrove, oak, spruce");
