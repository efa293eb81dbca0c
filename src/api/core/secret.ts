import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import {
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { isObject } from "../machinery/json/json.ts";
import { setKey, sortedKeys } from "../machinery/json/own-key.ts";
import { checkConfigMapKey } from "../machinery/names/names.ts";
import { decodeBase64, encodeBase64 } from "../machinery/scalars/base64.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { Secret as SecretObject } from "../types/core-v1.ts";
import { bytesOf, changedSealed, maxDataBytes } from "./sealed-data.ts";

const serviceAccountName = "kubernetes.io/service-account.name";

export const Secret = defineKind<SecretObject>("v1", "Secret", {
  defaults: (draft) => {
    mergeStringData(draft);
    draft.type ||= "Opaque";
  },
  update: {
    prepare: (draft, old) => {
      draft.type ||= old.type ?? "";
    },
    validate: (next, old) => [
      ...(next.type === old.type ? [] : [immutable("type", next.type ?? "")]),
      ...changedSealed(next, old, ["data"]),
    ],
  },
  validate: validateSecret,
  columns: [
    { name: "Type", type: "string", doc: "io.k8s.api.core.v1.Secret.type", cell: ({ type }) => type ?? "" },
    {
      name: "Data",
      type: "string",
      doc: "io.k8s.api.core.v1.Secret.data",
      cell: ({ data }) => Object.keys(data ?? {}).length,
    },
    ageColumn,
  ],
  selectableFields: { names: ["type"], valueOf: ({ type }) => type ?? "" },
});

/** `stringData` is write-only and takes precedence over `data`. */
function mergeStringData(draft: Draft<SecretObject>): void {
  const { stringData } = draft;
  if (stringData === undefined) return;
  delete draft.stringData;
  const merged = { ...draft.data };
  for (const [key, text] of Object.entries(stringData))
    setKey(merged, key, encodeBase64(new TextEncoder().encode(text)));
  draft.data = sortedKeys(merged) as Record<string, string>;
}

function validateSecret(secret: SecretObject, path: FieldPath): readonly FieldError[] {
  const dataPath = path.child("data");
  const { data = {} } = secret;
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    for (const why of checkConfigMapKey(key)) errors.push(invalid(dataPath.key(key), key, why));
    bytes += bytesOf(value);
  }
  if (bytes > maxDataBytes) errors.push(tooLong(dataPath, maxDataBytes));
  return [...errors, ...validateType(secret, path)];
}

function validateType({ type, data = {}, metadata }: SecretObject, path: FieldPath): readonly FieldError[] {
  const dataPath = path.child("data");
  const missing = (...keys: readonly string[]) =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(dataPath.key(key)));
  switch (type) {
    case "kubernetes.io/service-account-token":
      return (metadata.annotations?.[serviceAccountName] ?? "") === ""
        ? [required(path.child("metadata", "annotations").key(serviceAccountName))]
        : [];
    case "kubernetes.io/dockercfg":
      return [...missing(".dockercfg"), ...notJson(data, ".dockercfg", dataPath)];
    case "kubernetes.io/dockerconfigjson":
      return [...missing(".dockerconfigjson"), ...notJson(data, ".dockerconfigjson", dataPath)];
    case "kubernetes.io/basic-auth": {
      const absent = missing("username", "password");
      return absent.length === 2 ? absent : [];
    }
    case "kubernetes.io/ssh-auth":
      return (data["ssh-privatekey"] ?? "") === "" ? [required(dataPath.key("ssh-privatekey"))] : [];
    case "kubernetes.io/tls":
      return missing("tls.crt", "tls.key");
    default:
      return [];
  }
}

function notJson(data: Readonly<Record<string, string>>, key: string, dataPath: FieldPath): readonly FieldError[] {
  const value = data[key];
  if (value === undefined) return [];
  const why = jsonFault(new TextDecoder().decode(decodeBase64(value)));
  return why === undefined ? [] : [invalid(dataPath.key(key), "<secret contents redacted>", why)];
}

/** Go's words for the most common faults. */
function jsonFault(text: string): string | undefined {
  if (text.trim() === "") return "unexpected end of JSON input";
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed) || parsed === null) return undefined;
    const what = Array.isArray(parsed) ? "array" : typeof parsed === "boolean" ? "bool" : typeof parsed;
    return `json: cannot unmarshal ${what} into Go value of type map[string]interface {}`;
  } catch {
    return `invalid character '${text.trimStart().charAt(0)}' looking for beginning of value`;
  }
}
