/** A Pod's containers, with their states and reasons. */
import type { core } from "#api";
import { detailsOf, stateOf } from "../model/container.ts";
import { State } from "../parts/state.tsx";

export function Containers({ pod: { spec, status } }: { readonly pod: core.Pod }) {
  const groups = [
    ["init", spec?.initContainers ?? [], status?.initContainerStatuses ?? []],
    ["", spec?.containers ?? [], status?.containerStatuses ?? []],
    ["ephemeral", spec?.ephemeralContainers ?? [], status?.ephemeralContainerStatuses ?? []],
  ] as const;
  return (
    <>
      <h2>Containers</h2>
      <table class="plain">
        <thead>
          <tr>
            <th>Name</th>
            <th>State</th>
            <th class="wide">Image</th>
            <th class="num">Restarts</th>
          </tr>
        </thead>
        <tbody>
          {groups.flatMap(([role, containers, statuses]) =>
            containers.map(({ name = "", image }) => {
              const found = statuses.find((each) => each.name === name);
              const { words, tone } = stateOf(found);
              return (
                <tr key={`${role}${name}`}>
                  <td>
                    {name} {role !== "" && <span class="dim">{role}</span>}
                  </td>
                  <td>
                    <State tone={tone} words={words} />
                    {detailsOf(found).map((detail) => (
                      <span key={detail} class="detail dim">
                        {detail}
                      </span>
                    ))}
                  </td>
                  <td class="wide">
                    <code>{image}</code>
                  </td>
                  <td class="num">{found?.restartCount ?? 0}</td>
                </tr>
              );
            }),
          )}
        </tbody>
      </table>
    </>
  );
}
