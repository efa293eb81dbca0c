/** The state that all views share: route, namespace, search, time. */
import { batch, effect, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ALL, listRoute, parseRoute, type Route } from "./route.ts";
import { every, now } from "./time.ts";

export type Theme = "system" | "light" | "dark";

export interface Session {
  readonly server: string;
  readonly context?: string;
  readonly namespace?: string;
}

export class Page {
  readonly route: Signal<Route> = signal(parseRoute(location.hash));
  /** Empty: all of them. */
  readonly namespace: Signal<string>;
  readonly search = signal("");
  readonly theme: Signal<Theme>;
  /** Whether the shown view has edits that leaving it would lose. */
  readonly unsaved = signal(false);
  /** Where a link led to while there were such edits; undefined: nowhere. */
  readonly leaving: Signal<string | undefined> = signal(undefined);
  /** Updated every second, for ages. */
  readonly now = signal(now());
  readonly session: Session;
  readonly #memory: Storage;

  constructor(session: Session, memory: Storage) {
    this.session = session;
    this.#memory = memory;
    this.namespace = signal(memory.getItem("namespace") ?? session.namespace ?? "");
    this.#takeQuery();
    this.theme = signal(themeOf(memory.getItem("theme")));
    this.#applyTheme();
    every(1000, () => {
      this.now.value = now();
    });
    addEventListener("hashchange", ({ oldURL }) => {
      if (!this.unsaved.peek()) return this.#enter();
      this.leaving.value = location.hash;
      history.replaceState(null, "", oldURL);
    });
    addEventListener("beforeunload", (event) => {
      if (this.unsaved.peek()) event.preventDefault();
    });
    effect(() => {
      const own = listRoute(this.route.value, this.namespace.value, this.search.value);
      if (own !== undefined && own !== location.hash) history.replaceState(null, "", own);
    });
  }

  /** Goes where the link led, without the edits. */
  leave(): void {
    const to = this.leaving.peek();
    this.unsaved.value = false;
    this.leaving.value = undefined;
    if (to !== undefined) location.hash = to;
  }

  /** Changes the question of the shown page, in its URL, without an entry in the history. */
  ask(question: Readonly<Record<string, string>>): void {
    const route = this.route.peek();
    if (!("query" in route)) return;
    const query = new URLSearchParams(route.query);
    for (const [name, value] of Object.entries(question)) query.set(name, value);
    this.route.value = { ...route, query };
  }

  #enter(): void {
    batch(() => {
      const before = this.route.peek();
      this.route.value = parseRoute(location.hash);
      if (before.page !== this.route.value.page) this.search.value = "";
      this.#takeQuery();
    });
  }

  /** A link may name the namespace and the search. */
  #takeQuery(): void {
    const { value: route } = this.route;
    if (!("query" in route)) return;
    const namespace = route.query.get("namespace");
    if (namespace !== null) this.namespace.value = namespace === ALL ? "" : namespace;
    const search = route.query.get("search");
    if (search !== null) this.search.value = search;
  }

  lookAt(namespace: string): void {
    this.namespace.value = namespace;
    this.#memory.setItem("namespace", namespace);
  }

  nextTheme(): void {
    const order: readonly Theme[] = ["system", "light", "dark"];
    this.theme.value = order[(order.indexOf(this.theme.value) + 1) % order.length] ?? "system";
    this.#memory.setItem("theme", this.theme.value);
    this.#applyTheme();
  }

  #applyTheme(): void {
    document.documentElement.dataset.theme = this.theme.value;
  }
}

function themeOf(text: string | null): Theme {
  return text === "light" || text === "dark" ? text : "system";
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error("a view outside of the page");
  return page;
}
