// variables of the command line, and none of the system's
// flags -e OWN=value -e EMPTY= -e TWO=a=b
export { handleSummary } from "../data.js";
export const setup = () => ({ own: __ENV.OWN, empty: __ENV.EMPTY, two: __ENV.TWO, home: __ENV.HOME, text: typeof __ENV.NONE });
export default function () {}
