/**
 * Which Secret a class names for a call, as in upstream's `csi.storage.k8s.io/…-secret-name` and `-namespace`.
 *
 * 1. A namespace may be made of what an administrator controls only; a name may also use the name of the snapshot.
 * 2. Both parameters are given, or none.
 */
import { checkDns1123Label, checkDns1123Subdomain, goQuote } from "#api";

const PREFIX = "csi.storage.k8s.io/";

export type SecretUse = "Snapshotter" | "SnapshotterList" | "GroupSnapshotter" | "GroupSnapshotterGet";

const keys: Readonly<Record<SecretUse, string>> = {
  Snapshotter: "snapshotter",
  SnapshotterList: "snapshotter-list",
  GroupSnapshotter: "group-snapshotter",
  GroupSnapshotterGet: "group-snapshotter-get",
};

/** Parameters of k8s itself: drivers do not get them. */
const known = new Set(
  Object.values(keys).flatMap((key) => [`${PREFIX}${key}-secret-name`, `${PREFIX}${key}-secret-namespace`]),
);

export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

export type Resolved<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export interface SecretSubject {
  /** volumesnapshot, or volumegroupsnapshot. */
  readonly kind: "volumesnapshot" | "volumegroupsnapshot";
  readonly contentName: string;
  readonly snapshot?: { readonly namespace: string; readonly name: string } | undefined;
}

type Parameters = Readonly<Record<string, string>>;

/** The value is undefined if the class names no Secret for this use. */
export function secretReference(
  use: SecretUse,
  parameters: Parameters,
  subject: SecretSubject,
): Resolved<SecretReference | undefined> {
  const nameTemplate = parameters[`${PREFIX}${keys[use]}-secret-name`];
  const namespaceTemplate = parameters[`${PREFIX}${keys[use]}-secret-namespace`];
  if (nameTemplate === undefined && namespaceTemplate === undefined) return { ok: true, value: undefined };
  const wrong = (words: string) => failed(`failed to get name and namespace template from params: ${words}`);
  if (nameTemplate === undefined || namespaceTemplate === undefined)
    return wrong(`either name and namespace for ${use} secrets specified, Both must be specified`);
  if (nameTemplate === "" || namespaceTemplate === "")
    return wrong(`${use} secrets specified in parameters but value of either namespace or name is empty`);
  const { kind, contentName, snapshot } = subject;
  const ofNamespace = new Map([[`${kind}content.name`, contentName]]);
  if (snapshot !== undefined) ofNamespace.set(`${kind}.namespace`, snapshot.namespace);
  const namespace = expand(namespaceTemplate, ofNamespace);
  if (!namespace.ok) return namespace;
  if (checkDns1123Label(namespace.value).length > 0)
    return failed(`${quoted(namespaceTemplate, namespace.value)} is not a valid namespace name`);
  const ofName = new Map(ofNamespace);
  if (snapshot !== undefined) ofName.set(`${kind}.name`, snapshot.name);
  const name = expand(nameTemplate, ofName);
  if (!name.ok) return name;
  if (checkDns1123Subdomain(name.value).length > 0)
    return failed(`${quoted(nameTemplate, name.value)} is not a valid secret name`);
  return { ok: true, value: { namespace: namespace.value, name: name.value } };
}

/** The parameters for the driver: without those that name Secrets. */
export function driverParameters(parameters: Parameters): Resolved<Parameters> {
  const own: Record<string, string> = {};
  for (const [key, value] of Object.entries(parameters)) {
    if (!key.startsWith(PREFIX)) own[key] = value;
    else if (!known.has(key)) return failed(`found unknown parameter key "${key}" with reserved prefix ${PREFIX}`);
    else if (value === "") return failed("found unexpected empty value for parameter");
  }
  return { ok: true, value: own };
}

function expand(template: string, values: ReadonlyMap<string, string>): Resolved<string> {
  const missing = new Set<string>();
  const value = template.replace(/\$\{([^}]*)\}|\$(\w+)/g, (_, braced: string | undefined, bare = "") => {
    const token = braced ?? bare;
    const found = values.get(token);
    if (found === undefined) missing.add(token);
    return found ?? "";
  });
  if (missing.size === 0) return { ok: true, value };
  const tokens = [...missing].sort().map(goQuote).join(" ");
  return failed(`error resolving value ${goQuote(template)}: invalid tokens: [${tokens}]`);
}

/** The template, and what it became. */
function quoted(template: string, value: string): string {
  return template === value ? goQuote(template) : `${goQuote(template)} resolved to ${goQuote(value)} which`;
}

function failed(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}
