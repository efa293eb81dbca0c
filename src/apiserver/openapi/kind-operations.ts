/** All operations of a kind and its subresources, path by path: pure, from the Kind value. */
import type { Kind, ServedSubresource, Verb } from "#api";
import { deleteCollection, list, watchList, watchObject } from "./collection-operations.ts";
import { connections, isConnection } from "./connect-operations.ts";
import { create, patch, read, readLog, remove, replace } from "./object-operations.ts";
import type { Operation, PathOperations } from "./operation.ts";
import { type KindTypes, OperationMaker, type Subject } from "./operation-maker.ts";
import type { Parameters } from "./parameters.ts";

export function kindOperations(kind: Kind, types: KindTypes, parameters: Parameters): PathOperations[] {
  const maker = new OperationMaker(kind, types, parameters);
  const paths = [
    ...objectPaths(maker),
    ...kind.served.flatMap((sub) => subresourcePaths(maker, sub)),
    ...(types.custom || !kind.verbs.includes("watch") ? [] : watchPaths(maker)),
  ];
  return paths.filter(({ operations }) => operations.length > 0);
}

function objectPaths(maker: OperationMaker): PathOperations[] {
  const { kind, types, base, home, inNamespace, namespace } = maker;
  const { group, version, verbs } = kind;
  const subject: Subject = { group, version, kind: kind.kind, typeName: types.typeName };
  const listed = verbs.includes("list");
  return [
    {
      path: base + home,
      operations: [
        ...(listed ? [list(maker, inNamespace + kind.kind, namespace)] : []),
        ...(verbs.includes("create") ? [create(maker, subject)] : []),
        ...(verbs.includes("deletecollection") ? [deleteCollection(maker)] : []),
      ],
    },
    {
      path: `${base}${home}/{name}`,
      operations: [...changes(maker, subject, verbs), ...(verbs.includes("delete") ? [remove(maker, subject)] : [])],
    },
    ...(listed && namespace.length > 0
      ? [{ path: `${base}/${kind.names.plural}`, operations: [list(maker, `${kind.kind}ForAllNamespaces`, [])] }]
      : []),
  ];
}

function changes(maker: OperationMaker, subject: Subject, verbs: readonly Verb[]): Operation[] {
  return [
    ...(verbs.includes("get") ? [read(maker, subject)] : []),
    ...(verbs.includes("update") ? [replace(maker, subject)] : []),
    ...(verbs.includes("patch") ? [patch(maker, subject)] : []),
  ];
}

function subresourcePaths(maker: OperationMaker, sub: ServedSubresource): PathOperations[] {
  if (isConnection(sub)) return connections(maker, sub);
  const { kind, types, base, home } = maker;
  const own = sub.kind === kind.kind && sub.group === kind.group && sub.version === kind.version;
  const { group, version, name: part } = sub;
  const typeName = own ? types.typeName : sub.typeName;
  const subject: Subject = { group, version, kind: sub.kind, typeName, part };
  const operations =
    part === "log"
      ? [readLog(maker, subject)]
      : [...changes(maker, subject, sub.verbs), ...(sub.verbs.includes("create") ? [create(maker, subject)] : [])];
  return [{ path: `${base}${home}/{name}/${part}`, operations }];
}

function watchPaths(maker: OperationMaker): PathOperations[] {
  const { kind, parameters, base, home, inNamespace, namespace } = maker;
  const named = [parameters.nameOf(kind.kind), ...namespace];
  const paths = [
    { path: `${base}/watch${home}`, operations: [watchList(maker, `${inNamespace}${kind.kind}List`, namespace)] },
    { path: `${base}/watch${home}/{name}`, operations: [watchObject(maker, inNamespace + kind.kind, named)] },
  ];
  if (namespace.length === 0) return paths;
  const everywhere = watchList(maker, `${kind.kind}ListForAllNamespaces`, []);
  return [...paths, { path: `${base}/watch/${kind.names.plural}`, operations: [everywhere] }];
}
