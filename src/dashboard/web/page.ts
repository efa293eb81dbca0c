/** The state that all views share: route, namespace, search, time. */
import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { parseRoute, type Route } from "./route.ts";
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
  /** Updated every second, for ages. */
  readonly now = signal(now());
  readonly session: Session;
  readonly #memory: Storage;

  constructor(session: Session, memory: Storage) {
    this.session = session;
    this.#memory = memory;
    this.namespace = signal(memory.getItem("namespace") ?? session.namespace ?? "");
    this.theme = signal(themeOf(memory.getItem("theme")));
    this.#applyTheme();
    every(1000, () => {
      this.now.value = now();
    });
    addEventListener("hashchange", () => {
      const before = this.route.peek();
      this.route.value = parseRoute(location.hash);
      if (before.page !== this.route.value.page) this.search.value = "";
    });
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
