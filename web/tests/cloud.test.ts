import assert from "node:assert/strict";
import { test } from "node:test";

import { cloud } from "../src/cloud.ts";

test("what is left of a higher load stands apart", () => {
    assert.deepEqual(cloud([1, 5, 9, 5, null], [10, 50, null, 60, 70], true), [
        { x: 1, y: 10, isFalling: false },
        { x: 5, y: 50, isFalling: false },
        { x: 5, y: 60, isFalling: true },
    ]);
    assert.deepEqual(
        cloud([5, 1], [50, 10], false).map(({ isFalling }) => isFalling),
        [false, false],
    );
});
