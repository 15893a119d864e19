// One entry, one script and one style sheet without hashes in their names: Rust embeds them.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

const uplotLicense = readFileSync("node_modules/uplot/LICENSE", "utf8").trim();

export default defineConfig({
    logLevel: "warn",
    publicDir: false,
    build: {
        outDir: "../crates/lab/report/assets",
        emptyOutDir: false,
        // Browsers of the last three years: a report is mailed to people who choose theirs.
        target: "es2022",
        modulePreload: false,
        cssCodeSplit: false,
        reportCompressedSize: false,
        rolldownOptions: {
            input: "src/report.ts",
            output: {
                format: "iife",
                entryFileNames: "report.js",
                assetFileNames: "report.[ext]",
                codeSplitting: false,
                banner: `/*! Charts are drawn by uPlot.\n\n${uplotLicense}\n*/`,
            },
        },
    },
});
