// a module that does not exist
// exit code 107
import none from "./none.js";
export default function () {
  none();
}
