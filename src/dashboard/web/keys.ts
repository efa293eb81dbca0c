/**
 * Keys that work everywhere: `/` searches, `g` and a letter goes to a page, `t` changes the theme, `?` shows them all.
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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.matches("input, textarea, select") || target.closest(".xterm") !== null)
  );
}
