/** Two texts side by side. */
import type { ComponentChildren } from "preact";
import type { Pair } from "../model/diff.ts";

interface Props {
  readonly label: string;
  readonly heads: readonly [ComponentChildren, ComponentChildren];
  readonly pairs: readonly Pair[];
}

export function SideBySide({ label, heads, pairs }: Props) {
  return (
    <table class="beside" aria-label={label}>
      <thead>
        <tr>
          {heads.map((head, at) => (
            <th key={at}>{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {pairs.map(({ before, after, isChanged }, at) => (
          <tr key={at}>
            <td class={isChanged && before !== undefined ? "removed" : ""}>{before}</td>
            <td class={isChanged && after !== undefined ? "added" : ""}>{after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
