/** "Who can …": from the roles and bindings that the user may read. */
import type { rbac } from "#api";
import { useCollection } from "../api/collection.ts";
import { useDiscovered } from "../api/discovery.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { doubtAbout, type Holder, resourceNamed, whoCan } from "../model/who-can.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { Notice } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";

const VERBS = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "bind",
  "escalate",
  "impersonate",
];

const COLUMNS: readonly TableColumn<Holder>[] = [
  { title: "Kind", width: "116px", key: ({ kind }) => kind, cell: ({ kind }) => kind },
  {
    title: "Who",
    width: "minmax(140px, 2fr)",
    key: ({ namespace, name }) => `${namespace}/${name}`,
    cell: ({ namespace, name }) => <b class="name">{namespace === "" ? name : `${namespace}/${name}`}</b>,
  },
  {
    title: "Through",
    width: "minmax(120px, 4fr)",
    wide: true,
    key: ({ through }) => through[0]?.binding ?? "",
    cell: ({ through }) => {
      const words = through.map(({ binding, role }) => `${binding} → ${role}`).join(", ");
      return <span title={words}>{words}</span>;
    },
  },
];

export function AccessView() {
  const page = usePage();
  const namespace = page.namespace.value;
  const route = page.route.value;
  const query = "query" in route ? route.query : new URLSearchParams();
  const [verb, resource, name] = [query.get("verb") ?? "get", query.get("resource") ?? "pods", query.get("name") ?? ""];
  const discovered = useDiscovered();
  const roles = useCollection<rbac.Role & KubeObject>(ROLES, namespace);
  const clusterRoles = useCollection<rbac.ClusterRole & KubeObject>(CLUSTER_ROLES, "");
  const roleBindings = useCollection<rbac.RoleBinding & KubeObject>(ROLE_BINDINGS, namespace);
  const clusterRoleBindings = useCollection<rbac.ClusterRoleBinding & KubeObject>(CLUSTER_ROLE_BINDINGS, "");
  const all = [roles, clusterRoles, roleBindings, clusterRoleBindings];
  for (const { version } of all) void version.value;
  const { plural, group } = resourceNamed(resource.trim());
  const holders = whoCan(
    { verb: verb.trim(), resource: plural, group, namespace, name: name.trim() },
    {
      roles: [...roles.objects.values()],
      clusterRoles: [...clusterRoles.objects.values()],
      roleBindings: [...roleBindings.objects.values()],
      clusterRoleBindings: [...clusterRoleBindings.objects.values()],
    },
  );
  const doubt = discovered && doubtAbout(verb.trim(), resource.trim(), discovered.accessible);
  const isPartial = all.some(({ state }) => state.value.phase === "forbidden");
  return (
    <section class="fill">
      <Head title="Access" count={String(holders.length)} />
      <form class="question" onSubmit={(event) => event.preventDefault()}>
        <span>Who can</span>
        <input
          list="verbs"
          aria-label="Verb"
          size={10}
          value={verb}
          onInput={({ currentTarget }) => page.ask({ verb: currentTarget.value })}
        />
        <datalist id="verbs">
          {VERBS.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <input
          list="accessible"
          aria-label="Resource, such as pods/log or deployments.apps"
          size={22}
          value={resource}
          onInput={({ currentTarget }) => page.ask({ resource: currentTarget.value })}
        />
        <datalist id="accessible">
          {discovered?.accessible.map((each) => (
            <option key={each.name} value={each.name} />
          ))}
        </datalist>
        <span>named</span>
        <input
          aria-label="Name, or empty for any"
          placeholder="any"
          size={12}
          value={name}
          onInput={({ currentTarget }) => page.ask({ name: currentTarget.value })}
        />
        <span>{namespace === "" ? "in all namespaces?" : `in ${namespace}?`}</span>
      </form>
      <Notice states={all.map(({ state }) => state)} />
      {doubt !== undefined && <p class="notice">{doubt}</p>}
      {isPartial && <p class="notice">The answer only covers roles and bindings that you may read.</p>}
      <Table
        label="Who can"
        rows={holders}
        columns={COLUMNS}
        idOf={({ kind, namespace: inside, name: who }) => `${kind}/${inside}/${who}`}
        empty="Nobody, according to roles and bindings."
      />
    </section>
  );
}
