/**
 * Keys that work everywhere: `/` searches, `g` and a letter goes to a page, `t` changes the theme, `?` shows them all.
 * Arrows move in the first table or diagram.
 */
export interface Shortcut {
  readonly keys: string;
  readonly title: string;
  readonly run: () => void;
}

/** Returns a function that stops listening. */
export function listenForKeys(shortcuts: readonly Shortcut[]): () => void {
  let prefix = "";
  const listen = (event: KeyboardEvent) => {
    if (isOnPage(event) && MOVES.has(event.key)) {
      moveInList(event);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) {
      prefix = "";
      return;
    }
    const typed = prefix === "" ? event.key : `${prefix} ${event.key}`;
    const found = shortcuts.find(({ keys }) => keys === typed);
    prefix = found === undefined && shortcuts.some(({ keys }) => keys.startsWith(`${typed} `)) ? typed : "";
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}

/** Keys that move in a table or a diagram, also before it has the focus. */
const MOVES = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp"]);

/** Nothing on the page has the focus. */
function isOnPage({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return !ctrlKey && !metaKey && !altKey && target instanceof HTMLElement && target.matches("body, main");
}

/** Whether there is one. */
export function focusList(): boolean {
  const list = document.querySelector<HTMLElement>("main [role=grid], main [role=listbox]");
  list?.focus();
  return list !== null;
}

/** The list takes the focus, and the key. */
function moveInList(event: KeyboardEvent): void {
  if (!focusList()) return;
  event.preventDefault();
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: event.key }));
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.matches("input, textarea, select") || target.closest(".xterm") !== null)
  );
}
