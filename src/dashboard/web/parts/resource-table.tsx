/** A head with search and count, and the live table of one resource. */
import { useCollection } from "../api/collection.ts";
import { placeOf, type Resource } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { objectRoute } from "../route.ts";
import { Head } from "./head.tsx";
import { Age, Notice } from "./state.tsx";
import { Table, type TableColumn } from "./table.tsx";

export interface ResourceTableProps<T extends KubeObject> {
  readonly title: string;
  readonly resource: Resource;
  /** Between the name and the age. */
  readonly columns: readonly TableColumn<T>[];
  readonly empty: string;
}

export function ResourceTable<T extends KubeObject>({ title, resource, columns, empty }: ResourceTableProps<T>) {
  const page = usePage();
  const namespace = resource.namespaced ? page.namespace.value : "";
  const objects = useCollection<T>(resource, namespace);
  void objects.version.value;
  const all = [...objects.objects.values()];
  const found = matching(all, page.search.value, (object) =>
    [object.metadata.namespace, object.metadata.name, ...columns.map(({ key }) => key(object))].join(" ").toLowerCase(),
  );
  const name: TableColumn<T> = {
    title: "Name",
    width: "minmax(100px, 2fr)",
    key: ({ metadata }) => metadata.name,
    cell: (object) => (
      <a tabIndex={-1} class="name" href={objectRoute(placeOf(resource, object))}>
        {object.metadata.name}
      </a>
    ),
  };
  const inside: TableColumn<T> = {
    title: "Namespace",
    width: "minmax(80px, 1fr)",
    wide: true,
    key: ({ metadata }) => metadata.namespace ?? "",
    cell: ({ metadata }) => metadata.namespace,
  };
  const age: TableColumn<T> = {
    title: "Age",
    width: "56px",
    numeric: true,
    wide: true,
    key: ({ metadata }) => metadata.creationTimestamp ?? "",
    cell: ({ metadata }) => <Age since={metadata.creationTimestamp} />,
  };
  const withNamespace = resource.namespaced && namespace === "";
  return (
    <>
      <Head
        title={title}
        count={found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`}
        search="Search these"
        namespaced={resource.namespaced}
      />
      <Notice states={[objects.state]} />
      <Table
        label={title}
        rows={found}
        columns={[name, ...(withNamespace ? [inside] : []), ...columns, age]}
        idOf={({ metadata }) => `${metadata.namespace}/${metadata.name}`}
        hrefOf={(object) => objectRoute(placeOf(resource, object))}
        empty={objects.state.value.phase === "loading" ? "Loading …" : empty}
      />
    </>
  );
}
