/** The choice of two moments. */
import { useSignal } from "@preact/signals";
import type { Moment } from "./moments.ts";

interface Props {
  readonly from: string;
  readonly to: string;
  readonly onCompare: (from: string, to: string) => void;
}

/** The store keeps ten minutes by default. */
const OFFERED = ["-30s", "-1m", "-2m", "-5m", "-10m", "now"];

export function MomentsForm({ from: first, to: second, onCompare }: Props) {
  const from = useSignal(first);
  const to = useSignal(second);
  const field = (title: string, text: typeof from) => (
    <label>
      {title}
      <input
        size={18}
        list="moments"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
    </label>
  );
  return (
    <form
      class="tools moments"
      onSubmit={(event) => {
        event.preventDefault();
        onCompare(from.value, to.value);
      }}
    >
      {field("From", from)}
      {field("to", to)}
      <datalist id="moments">
        {OFFERED.map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <button type="submit" class="primary">
        Compare
      </button>
      <span class="dim">An age (-5m), a time (2026-01-31T12:00:00Z), a revision (1041), or now.</span>
    </form>
  );
}

export function MomentHead({ revision, time }: Moment) {
  return (
    <>
      Revision {revision} <span class="dim">{time}</span>
    </>
  );
}
