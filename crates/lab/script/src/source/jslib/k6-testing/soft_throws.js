// Until version 0.3 a soft assertion that fails ends the iteration.
const SOFT_MODE = "throw";
