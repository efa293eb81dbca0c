/** The parts of the cluster: API servers, leaders, members of the store, versions, ends of certificates. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ClusterReport } from "../../server/cluster.ts";
import { askDashboard, wordsOf } from "../api/request.ts";
import { NODES, placeOf } from "../api/resources.ts";
import { bytes } from "../model/quantity.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { Age, State } from "../parts/state.tsx";
import { objectRoute } from "../route.ts";
import { sleep } from "../time.ts";
import { certificateState, certificateTitle, memberRole, versionsOf } from "./cluster.ts";

const LOOK_MS = 3000;

export function ClusterView() {
  const { report, words } = useReport();
  return (
    <section>
      <Head title="Cluster" namespaced={false} />
      {words !== "" && (
        <p class="notice" role="status">
          Not live at the moment, asking again: {words}
        </p>
      )}
      {report === undefined ? words === "" && <p class="dim">Loading …</p> : <Parts report={report} />}
    </section>
  );
}

function Parts({ report }: { readonly report: ClusterReport }) {
  const { apiServers, leaders, storeMembers, nodes, certificates, refused } = report;
  const versions = versionsOf(report);
  const emptyOf = (plural: string, words: string) =>
    refused.some((text) => text.startsWith(`${plural} is forbidden`) || text.startsWith(`${plural}.`))
      ? `You may not read ${plural}.`
      : words;
  return (
    <>
      {refused.length > 0 && (
        <div class="notice" role="status">
          {refused.map((text) => (
            <p key={text}>Forbidden: {text}</p>
          ))}
        </div>
      )}
      <div class="columns parts-of-cluster">
        <Panel title="Versions" heads={["Version", "Of"]} empty="Unknown.">
          {versions.map(({ version, of }) => (
            <tr key={version}>
              <td>
                <code>{version}</code>
              </td>
              <td>{of.join(", ")}</td>
            </tr>
          ))}
        </Panel>
        <Panel
          title="API servers"
          heads={["Name", "Address", "Lease"]}
          empty={emptyOf("leases", "No API server has a Lease.")}
        >
          {apiServers.map(({ name, address, alive }) => (
            <tr key={name}>
              <td class="breaks">{name}</td>
              <td>{address || <span class="dim">not published</span>}</td>
              <td>
                <Alive is={alive} />
              </td>
            </tr>
          ))}
        </Panel>
        <Panel
          title="Leaders"
          heads={["Component", "Holder", "Since", "Lease"]}
          empty={emptyOf("leases", "No Lease: controllers and scheduler work alone, in the API server's process.")}
        >
          {leaders.map(({ component, holder, alive, since, transitions }) => (
            <tr key={component}>
              <td>{component}</td>
              <td class="breaks" title={`${transitions} changes of the leader`}>
                {holder}
              </td>
              <td>
                <Age since={since} />
              </td>
              <td>
                <Alive is={alive} />
              </td>
            </tr>
          ))}
        </Panel>
        <Panel
          title="Store"
          heads={["Member", "Role", "Size", "Lag", "Health"]}
          empty="Its members are shown to the admin of a cluster that runs its own store on disk."
        >
          {storeMembers.map((member) => (
            <tr key={member.name}>
              <td>
                {member.name} {member.version !== "" && <span class="dim">{member.version}</span>}
                <span class="detail dim breaks">{member.endpoint}</span>
              </td>
              <td>{memberRole(member)}</td>
              <td class="whole">{bytes(member.dbSize)}</td>
              <td>{member.raftIndexLag}</td>
              <td>
                <State
                  tone={member.health === "healthy" ? "good" : "bad"}
                  words={member.reason === undefined ? member.health : `${member.health}: ${member.reason}`}
                />
              </td>
            </tr>
          ))}
        </Panel>
        <Panel
          title="Nodes"
          heads={["Name", "Status", "Roles", "Version", "Runtime"]}
          wide={["Roles", "Runtime"]}
          empty={emptyOf("nodes", "There are no nodes.")}
        >
          {nodes.map(({ name, status, roles, version, runtime, system, address }) => (
            <tr key={name}>
              <td>
                <a href={objectRoute(placeOf(NODES, { metadata: { name } }))}>{name}</a>
                <span class="detail dim">{address}</span>
              </td>
              <td>
                <State
                  tone={status === "Ready" ? "good" : status.startsWith("Ready") ? "quiet" : "bad"}
                  words={status}
                />
              </td>
              <td class="wide">{roles.join(", ") || <span class="dim">none</span>}</td>
              <td class="breaks">{version}</td>
              <td class="wide breaks" title={system}>
                {runtime}
              </td>
            </tr>
          ))}
        </Panel>
        <Certificates certificates={certificates} />
      </div>
    </>
  );
}

function Certificates({ certificates }: Pick<ClusterReport, "certificates">) {
  const page = usePage();
  return (
    <Panel
      title="Certificates of this machine"
      heads={["Certificate", "Ends", "In"]}
      empty="They are shown to the cluster's admin."
    >
      {certificates.map(({ name, expires }) => {
        const { tone, words } = certificateState(expires, page.now.value);
        return (
          <tr key={name}>
            <td title={name}>{certificateTitle(name)}</td>
            <td>{expires.slice(0, 10)}</td>
            <td>
              <State tone={tone} words={words} />
            </td>
          </tr>
        );
      })}
    </Panel>
  );
}

function Alive({ is }: { readonly is: boolean }) {
  return <State tone={is ? "good" : "bad"} words={is ? "renewed" : "not renewed"} />;
}

interface PanelProps {
  readonly title: string;
  readonly heads: readonly string[];
  /** Those that narrow screens leave out. */
  readonly wide?: readonly string[];
  readonly empty: string;
  readonly children: readonly ComponentChildren[];
}

function Panel({ title, heads, wide = [], empty, children }: PanelProps) {
  return (
    <section class="panel scrolls" aria-label={title}>
      <h2>{title}</h2>
      {children.length === 0 ? (
        <p class="dim">{empty}</p>
      ) : (
        <table class="plain" aria-label={title}>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} class={wide.includes(head) ? "wide" : ""}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      )}
    </section>
  );
}

/** Asked again every few seconds: Leases change that often, and the store has no watch. */
function useReport() {
  const report = useSignal<ClusterReport | undefined>(undefined);
  const words = useSignal("");
  useEffect(() => {
    const abort = new AbortController();
    const follow = async ({ signal }: AbortController) => {
      while (!signal.aborted) {
        try {
          const found = await askDashboard<ClusterReport>("cluster", { signal });
          if (signal.aborted) return;
          report.value = found;
          words.value = "";
        } catch (error) {
          if (signal.aborted) return;
          words.value = wordsOf(error);
        }
        await sleep(LOOK_MS, signal);
      }
    };
    void follow(abort);
    return () => abort.abort();
  }, [report, words]);
  return { report: report.value, words: words.value };
}
