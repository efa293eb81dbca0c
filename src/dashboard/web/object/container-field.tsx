/** Selects a container of a Pod. */
import type { Signal } from "@preact/signals";

export function ContainerField({
  chosen,
  names,
}: {
  readonly chosen: Signal<string>;
  readonly names: readonly string[];
}) {
  return (
    <select
      aria-label="Container"
      value={chosen.value}
      onChange={({ currentTarget }) => {
        chosen.value = currentTarget.value;
      }}
    >
      {names.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}
