/** The question before edits are lost. */
import { usePage } from "../page.ts";
import { Dialog } from "./dialog.tsx";

export function Leaving() {
  const page = usePage();
  if (page.leaving.value === undefined) return null;
  const stay = () => {
    page.leaving.value = undefined;
  };
  return (
    <Dialog label="Edits are not applied" onClose={stay}>
      <h2>Edits are not applied</h2>
      <p>Leaving this page loses them.</p>
      <div class="tools end">
        <button type="button" onClick={() => page.leave()}>
          Discard the edits
        </button>
        <button type="button" class="primary" onClick={stay}>
          Stay
        </button>
      </div>
    </Dialog>
  );
}
