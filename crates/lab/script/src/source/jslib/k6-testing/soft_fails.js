// Since version 0.4 a soft assertion that fails marks the test as failed, and the iteration goes on.
const SOFT_MODE = "fail";
