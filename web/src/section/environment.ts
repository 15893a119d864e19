// Where the run ran, and how to run it again.

import { h } from "../dom.ts";
import { format, moment, seconds, shellCommand } from "../format.ts";
import type { RunData, Summary } from "../summary.ts";
import { facts } from "./generator.ts";
import { type Section, section } from "./section.ts";

export function environment({ summary }: RunData): Section {
    return section("environment", "Environment", facts(entries(summary)), h("h3", {}, "Run it again"), again(summary.metadata.command));
}

function entries({ environment: machine, metadata, end }: Summary): [string, string | null][] {
    const ports = machine.local_ports;
    return [
        ["Started", moment(metadata.started_at)],
        ["Lasted", seconds(metadata.duration_seconds)],
        ["Ended", end.reason ? `${end.cause.replaceAll("_", " ")}: ${end.reason}` : end.cause.replaceAll("_", " ")],
        ["Plimsoll", metadata.plimsoll],
        ["Run", metadata.id],
        ["System", [machine.os, machine.kernel, machine.arch].filter(Boolean).join(" ")],
        ["Processor", [machine.cpu_model, format(machine.cores, "cores")].filter(Boolean).join(", ")],
        ["Memory", machine.memory_bytes > 0 ? format(machine.memory_bytes, "bytes") : null],
        [
            "Open files",
            machine.open_files_limit === null ? null : `at most ${format(machine.open_files_limit, "count")}`,
        ],
        ["Local ports", ports ? `${ports[0]} to ${ports[1]}` : null],
        ["Workers", format(machine.workers, "count")],
    ];
}

/** The command line, ready to be copied. */
export function again(words: string[]): HTMLElement {
    const command = shellCommand(words);
    const said = h("span", { class: "heard", role: "status" });
    const button = h("button", { type: "button", class: "button" }, "Copy");
    button.addEventListener("click", () => {
        void copy(command).then((isCopied) => {
            button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
            said.textContent = isCopied ? "Copied." : "Select the command and copy it.";
        });
    });
    return h(
        "div",
        { class: "command" },
        h("div", { class: "command-line" }, h("code", { tabindex: 0 }, command), button, said),
    );
}

/** Pages from disk may not have the clipboard. */
async function copy(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return false;
    }
}
