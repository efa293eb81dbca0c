/** The page's route: its URL fragment, such as `#/pods` or `#/object/apps/v1/deployments/default/web/yaml`. */
export interface ObjectPlace {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export type Route =
  | { readonly page: "object"; readonly place: ObjectPlace; readonly tab: string }
  | { readonly page: string; readonly query: URLSearchParams };

const NONE = "-";

export function parseRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").map(decoded);
  const [page = "", group = "", version = "", plural = "", namespace = "", name = "", tab = ""] = parts;
  if (page === "object" && name !== "") {
    const place = {
      group: group === NONE ? "" : group,
      version,
      plural,
      namespace: namespace === NONE ? "" : namespace,
      name,
    };
    return { page: "object", place, tab: tab === "" ? "summary" : tab };
  }
  return { page: page === "" ? "overview" : page, query: new URLSearchParams(query) };
}

export function objectRoute({ group, version, plural, namespace, name }: ObjectPlace, tab = ""): string {
  const parts = ["object", group || NONE, version, plural, namespace || NONE, name, ...(tab === "" ? [] : [tab])];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** A release of Helm, one of its revisions, and a part of that. */
export function releaseRoute(namespace: string, name: string, revision?: number, part?: string): string {
  const query = new URLSearchParams({ release: `${namespace}/${name}` });
  if (revision !== undefined) query.set("revision", String(revision));
  if (part !== undefined) query.set("of", part);
  return `#/releases?${query}`;
}

/** Two moments of a namespace, or of the whole cluster; of them one object. */
export function comparedRoute(question: {
  readonly from: string;
  readonly to: string;
  readonly namespace: string;
  readonly of?: ObjectPlace | undefined;
}): string {
  const { from, to, namespace, of } = question;
  const query = new URLSearchParams({ from, to, namespace: namespace === "" ? ALL : namespace });
  if (of !== undefined) query.set("of", objectRoute(of).slice("#/object/".length));
  return `#/compare?${query}`;
}

/** Of the rest of an object's route. Undefined: it names none. */
export function placeFrom(text: string): ObjectPlace | undefined {
  const route = parseRoute(`#/object/${text}`);
  return text !== "" && "place" in route ? route.place : undefined;
}

/** The namespace of a URL that shows all of them: no namespace can have this name. */
export const ALL = "*";

/** The URL of a list as it is shown: with its namespace and search, for bookmarks and colleagues. */
export function listRoute(route: Route, namespace: string, search: string): string | undefined {
  if (!("query" in route)) return undefined;
  const query = new URLSearchParams(route.query);
  query.set("namespace", namespace === "" ? ALL : namespace);
  if (search === "") query.delete("search");
  else query.set("search", search);
  return `#/${route.page}?${query}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // shown as it was typed
  }
}
