declare module "k6/html" {
  /** Parses a page. */
  export function parseHTML(page: string): Selection;

  export type Matcher = string | Selection | Element | ((index: number, element: Element) => boolean);

  /** Elements of a page. */
  export interface Selection {
    add(more: string | Selection | Element): Selection;
    attr(name: string): string | undefined;
    attr(name: string, fallback: string): string;
    children(matcher?: Matcher): Selection;
    closest(matcher: Matcher): Selection;
    contents(): Selection;
    data(): { [name: string]: any };
    data(name: string): any;
    each(run: (index: number, element: Element) => unknown): Selection;
    end(): Selection;
    eq(index: number): Selection;
    filter(matcher: Matcher): Selection;
    find(selector: string): Selection;
    first(): Selection;
    get(): Element[];
    get(index: number): Element | undefined;
    has(matcher: string | Selection | Element): Selection;
    html(): string | undefined;
    index(of?: string | Selection | Element): number;
    is(matcher: Matcher): boolean;
    last(): Selection;
    map<T>(run: (index: number, element: Element) => T): T[];
    next(matcher?: Matcher): Selection;
    nextAll(matcher?: Matcher): Selection;
    nextUntil(until?: string | Selection | Element, matcher?: Matcher): Selection;
    not(matcher: Matcher): Selection;
    parent(matcher?: Matcher): Selection;
    parents(matcher?: Matcher): Selection;
    parentsUntil(until?: string | Selection | Element, matcher?: Matcher): Selection;
    prev(matcher?: Matcher): Selection;
    prevAll(matcher?: Matcher): Selection;
    prevUntil(until?: string | Selection | Element, matcher?: Matcher): Selection;
    serialize(): string;
    serializeArray(): { name: string; value: string }[];
    serializeObject(): { [name: string]: string };
    siblings(matcher?: Matcher): Selection;
    size(): number;
    slice(start: number, end?: number): Selection;
    text(): string;
    toArray(): Selection[];
    val(): any;
  }

  /** An attribute of an element. */
  export interface Attribute {
    readonly name: string;
    readonly value: string;
    readonly ownerElement: Element;
  }

  /** A node of a page, with methods as in browsers. */
  export interface Element {
    attributes(): { [name: string]: Attribute };
    childElementCount(): number;
    childNodes(): Element[];
    children(): Element[];
    classList(): string[];
    className(): string | undefined;
    contains(other: Element): boolean;
    firstChild(): Element | undefined;
    firstElementChild(): Element | undefined;
    getAttribute(name: string): string | undefined;
    getAttributeNode(name: string): Attribute | undefined;
    getElementsByClassName(names: string): Element[];
    getElementsByTagName(name: string): Element[];
    hasAttribute(name: string): boolean;
    hasAttributes(): boolean;
    hasChildNodes(): boolean;
    id(): string | undefined;
    innerHTML(): string | undefined;
    isEqualNode(other: Element): boolean;
    isSameNode(other: Element): boolean;
    lang(): string | undefined;
    lastChild(): Element | undefined;
    lastElementChild(): Element | undefined;
    matches(selector: string): boolean;
    nextElementSibling(): Element | undefined;
    nextSibling(): Element | undefined;
    nodeName(): string;
    nodeType(): number;
    nodeValue(): string | undefined;
    ownerDocument(): Element | undefined;
    parentElement(): Element | undefined;
    parentNode(): Element | undefined;
    previousElementSibling(): Element | undefined;
    previousSibling(): Element | undefined;
    querySelector(selector: string): Element | undefined;
    querySelectorAll(selector: string): Element[];
    textContent(): string;
    toString(): string;
  }
  const all: Omit<typeof import("k6/html"), "default">;
  export default all;
}
