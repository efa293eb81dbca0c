import { useCollection } from "../api/collection.ts";
import { NAMESPACES } from "../api/resources.ts";
import { usePage } from "../page.ts";

/** The namespace field: a list if namespaces may be listed, else free text. */
export function NamespaceField() {
  const page = usePage();
  const namespaces = useCollection(NAMESPACES, "");
  void namespaces.version.value;
  const names = [...namespaces.objects.values()].map(({ metadata }) => metadata.name).sort();
  if (namespaces.state.value.phase === "forbidden") {
    return (
      <input
        aria-label="Namespace"
        class="namespace"
        placeholder="Namespace"
        value={page.namespace.value}
        onChange={({ currentTarget }) => page.lookAt(currentTarget.value.trim())}
      />
    );
  }
  return (
    <select
      aria-label="Namespace"
      class="namespace"
      value={page.namespace.value}
      onChange={({ currentTarget }) => page.lookAt(currentTarget.value)}
    >
      <option value="">All namespaces</option>
      {(names.includes(page.namespace.value) || page.namespace.value === ""
        ? names
        : [page.namespace.value, ...names]
      ).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
