/** Operations on all objects of a kind: list, watch, delete. */
import type { Operation, Parameter } from "./operation.ts";
import { META, type OperationMaker } from "./operation-maker.ts";

/** `name`: that of the operation, after the group and version; `path`: its parameters in the path. */
export function list(maker: OperationMaker, name: string, path: readonly Parameter[]): Operation {
  const { kind, types, parameters, streams } = maker;
  const watched = kind.verbs.includes("watch") ? "or watch " : "";
  return maker.make("list", name, kind, [...path, ...parameters.ofAction("list")], {
    method: "get",
    action: "list",
    description: `list ${watched}objects of kind ${kind.kind}`,
    produces: streams,
    responses: { 200: { typeName: types.listTypeName } },
  });
}

export function deleteCollection(maker: OperationMaker): Operation {
  const { kind, parameters, namespace, inNamespace } = maker;
  const own = [...namespace, ...parameters.ofAction("deletecollection")];
  return maker.make("delete", `Collection${inNamespace}${kind.kind}`, kind, own, {
    method: "delete",
    action: "deletecollection",
    description: `delete collection of ${kind.kind}`,
    body: { typeName: `${META}.DeleteOptions`, required: false },
    responses: { 200: { typeName: `${META}.Status` } },
  });
}

/** The deprecated paths under /watch/. */
export function watchList(maker: OperationMaker, name: string, path: readonly Parameter[]): Operation {
  const changes = `individual changes to a list of ${maker.kind.kind}`;
  return watching(maker, "watchlist", name, path, changes, "");
}

export function watchObject(maker: OperationMaker, name: string, path: readonly Parameter[]): Operation {
  const changes = `changes to an object of kind ${maker.kind.kind}`;
  return watching(
    maker,
    "watch",
    name,
    path,
    changes,
    ", filtered to a single item with the 'fieldSelector' parameter",
  );
}

function watching(
  maker: OperationMaker,
  action: "watch" | "watchlist",
  name: string,
  path: readonly Parameter[],
  changes: string,
  how: string,
): Operation {
  const { kind, parameters, streams } = maker;
  return maker.make("watch", name, kind, [...path, ...parameters.ofAction("list")], {
    method: "get",
    action,
    description: `watch ${changes}. deprecated: use the 'watch' parameter with a list operation instead${how}.`,
    produces: streams,
    responses: { 200: { typeName: `${META}.WatchEvent` } },
  });
}
