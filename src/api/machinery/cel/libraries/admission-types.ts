/** The types of the admission variables `request` and `namespaceObject`. Unset fields are absent, not empty. */
import {
  bool,
  dyn,
  type Field,
  int,
  list,
  map,
  type ObjectType,
  object,
  string,
  type Type,
  timestamp,
  withData,
} from "../values/type.ts";

const texts = list(string);
const textMap = map(string, string);

const kind = record("kubernetes.GroupVersionKind", { group: string, version: string, kind: string });
const resource = record("kubernetes.GroupVersionResource", { group: string, version: string, resource: string });
const userInfo = record("kubernetes.UserInfo", {
  username: string,
  uid: string,
  groups: texts,
  extra: map(string, texts),
});

/** Without `uid`, and without the objects, which are variables of their own. */
export const admissionRequestType = record("kubernetes.AdmissionRequest", {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
});

/** null for objects without a namespace. */
export const namespaceType = withData(
  record("kubernetes.Namespace", {
    metadata: record("kubernetes.NamespaceMetadata", {
      name: string,
      generateName: string,
      namespace: string,
      labels: textMap,
      annotations: textMap,
      UID: string,
      creationTimestamp: timestamp,
      deletionGracePeriodSeconds: int,
      deletionTimestamp: timestamp,
      generation: int,
      resourceVersion: string,
      finalizers: texts,
    }),
    spec: record("kubernetes.NamespaceSpec", { finalizers: texts }),
    status: record("kubernetes.NamespaceStatus", {
      conditions: list(
        record("kubernetes.NamespaceCondition", {
          status: string,
          type: string,
          lastTransitionTime: timestamp,
          message: string,
          reason: string,
        }),
      ),
      phase: string,
    }),
  }),
  { nullable: true },
);

/** An object whose fields have the same names in CEL and in JSON. */
export function record(name: string, fields: Readonly<Record<string, Type>>): ObjectType {
  return object(
    name,
    new Map(Object.entries(fields).map(([field, type]): [string, Field] => [field, { json: field, type }])),
  );
}
