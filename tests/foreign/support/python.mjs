// The Python that has the packages of the tests. Debian's own may come behind another one.

import { execFileSync } from "node:child_process";

/** The first Python that can import `modules`, such as `"websockets, aiohttp"`. */
export function pythonWith(modules) {
  for (const python of ["python3", "/usr/bin/python3"]) {
    try {
      execFileSync(python, ["-c", `import ${modules}`], { stdio: "ignore" });
      return python;
    } catch {
      // Another one may have them.
    }
  }
  throw new Error(`no Python has ${modules}: \`cargo xtask test --only setup\` installs them`);
}
