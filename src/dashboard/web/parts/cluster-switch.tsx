/** Leads to the dashboards of this user's other clusters. Nothing, where there are none. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { askDashboard, wordsOf } from "../api/request.ts";

interface KnownCluster {
  readonly name: string;
  readonly state: string;
  readonly isThis: boolean;
}

export function ClusterSwitch() {
  const clusters = useSignal<readonly KnownCluster[]>([]);
  const words = useSignal("");
  const look = () =>
    askDashboard<{ items: readonly KnownCluster[] }>("clusters").then(
      ({ items }) => {
        clusters.value = items;
      },
      // The page works without.
      () => undefined,
    );
  useEffect(() => void look(), []);
  const all = clusters.value;
  if (!all.some(({ isThis }) => !isThis)) return null;
  const here = all.find(({ isThis }) => isThis)?.name ?? "";
  const go = async (name: string, field: HTMLSelectElement) => {
    try {
      const { link } = await askDashboard<{ link: string }>(`clusters?${new URLSearchParams({ name })}`, {
        method: "POST",
      });
      location.assign(link);
    } catch (error) {
      words.value = wordsOf(error);
      field.value = here;
    }
  };
  return (
    <div class="clusters">
      <select
        aria-label="Cluster"
        value={here}
        onFocus={() => void look()}
        onChange={({ currentTarget }) => void go(currentTarget.value, currentTarget)}
      >
        {here === "" && <option value="">this one</option>}
        {all.map(({ name, state, isThis }) => (
          <option key={name} value={name} disabled={!isThis && state !== "running"}>
            {state === "running" ? name : `${name} (${state})`}
          </option>
        ))}
      </select>
      {words.value !== "" && (
        <p class="bad-words" role="alert">
          {words.value}
        </p>
      )}
    </div>
  );
}
