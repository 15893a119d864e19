// The first lines of the page: how the run is, and buttons.

import { h } from "../dom.ts";
import { seconds } from "../format.ts";
import { type Mood, word } from "./state.ts";

/** What the page is about, as the program wrote it into the page. */
export interface About {
    name: string;
    canPause: boolean;
    link: Link | null;
}

/** Another page that belongs to the run. */
export interface Link {
    url: string;
    name: string;
}

export function about(data: DOMStringMap): About {
    const { name = "", canPause, link, linkName = "" } = data;
    return { name, canPause: canPause === "true", link: link ? { url: link, name: linkName } : null };
}

export class Controls {
    readonly element: HTMLElement;
    private readonly badge = h("span", { class: "badge", role: "status" });
    private readonly time = h("span", {});
    private readonly answer = h("p", { class: "note", role: "alert" });
    private readonly pause = h("button", { type: "button" }, "Pause");
    private readonly stop = h("button", { type: "button", class: "danger" }, "Stop");
    private mood: Mood | null = null;
    private elapsed: number | null = null;
    private isConnected = false;

    constructor({ name, canPause, link }: About) {
        this.pause.hidden = !canPause;
        this.pause.addEventListener("click", () => void this.order("pause"));
        this.stop.addEventListener("click", () => void this.order("stop"));
        this.element = h(
            "div",
            { class: "headline live" },
            h("p", { class: "facts" }, this.badge, this.time),
            h("h1", {}, name),
            h(
                "p",
                { class: "live-controls" },
                this.pause,
                this.stop,
                link && h("a", { href: link.url, target: "_blank", rel: "noreferrer" }, link.name),
            ),
            this.answer,
        );
        this.draw();
    }

    connected(isConnected: boolean): void {
        this.isConnected = isConnected;
        this.draw();
    }

    show(mood: Mood, elapsed: number | null): void {
        this.mood = mood;
        this.elapsed = elapsed ?? this.elapsed;
        this.draw();
    }

    private draw(): void {
        this.badge.textContent = word(this.mood, this.isConnected, this.elapsed !== null);
        this.badge.classList.toggle("unknown", this.badge.textContent !== "running");
        this.time.textContent = this.elapsed === null ? "" : `for ${seconds(this.elapsed)}`;
        this.pause.textContent = this.mood?.isPaused ? "Resume" : "Pause";
        this.pause.disabled = !this.isConnected || this.mood?.isEnding === true;
        this.stop.disabled = !this.isConnected || this.mood?.isEnding === true;
    }

    /** The program answers with what holds now, or why it cannot be. */
    private async order(what: "pause" | "stop"): Promise<void> {
        try {
            const response = await fetch(what, { method: "POST" });
            if (!response.ok) throw new Error(await response.text());
            this.answer.textContent = "";
            this.show((await response.json()) as Mood, null);
        } catch (error) {
            this.answer.textContent = error instanceof Error ? error.message : String(error);
        }
    }
}
