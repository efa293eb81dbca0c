/** The list of keys, over the page until it is closed. */
import type { Shortcut } from "../keys.ts";
import { Dialog } from "./dialog.tsx";

export function Shortcuts({
  shortcuts,
  onClose,
}: {
  readonly shortcuts: readonly Shortcut[];
  readonly onClose: () => void;
}) {
  return (
    <Dialog label="Keyboard shortcuts" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys">
        {shortcuts.map(({ keys, title }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>↑ ↓ ↵</kbd>
          </dt>
          <dd>Move in a table, open a row</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </Dialog>
  );
}
