// a script that cannot be read
// exit code 107
export default function () { const = 1; }
