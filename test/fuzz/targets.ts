/**
 * The parsers under fuzz. Each has valid inputs, and the classes of errors that it declares: any other is a finding.
 */
import {
  builtIn,
  DecodeError,
  DurationError,
  decode,
  decodeProtobuf,
  encodeProtobuf,
  FieldSelectorError,
  JsonSyntaxError,
  LabelSelectorError,
  type ObjectSchema,
  ProtobufError,
  parseCidr,
  parseDocument,
  parseDuration,
  parseFieldSelector,
  parseIp,
  parseLabelSelector,
  parseQuantity,
  parseTime,
  parseYaml,
  QuantityError,
  TimeError,
  YamlSyntaxError,
} from "#api";
import { readSchedule } from "../../src/controllers/cronjob/schedule.ts";
import { CniError } from "../../src/network/cni/cni-error.ts";
import { parseNetwork } from "../../src/network/cni/configuration.ts";
import { readQuestion } from "../../src/network/dns/question.ts";
import { lifetimesOf, recordsOf } from "../../src/network/dns/upstream-answer.ts";
import { PkiError } from "../../src/pki/errors.ts";
import { parseKubeconfig } from "../../src/pki/kubeconfig-document.ts";
import { requestSubject } from "../../src/pki/request-subject.ts";
import { readSigningRequest } from "../../src/pki/signing-request.ts";
import { makeRequest } from "../../src/pki/testing/request.ts";
import { credentialTargets } from "./credential-targets.ts";
import { http2Targets } from "./http2-targets.ts";
import { objectTargets } from "./object-targets.ts";
import { runtimeTargets } from "./runtime-targets.ts";
import { streamTargets } from "./stream-targets.ts";
import { hex, type Target, texts } from "./target.ts";

const { pem } = makeRequest({ commonName: "jane" });
const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
const pod =
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1500m"}}}]}}';
const yaml =
  "a: &x {b: [1, 0x1f, 1e3, ~, \"q\\u00e9\"], c: 's'}\nd:\n  - *x\n  - <<: *x\n    e: |-\n      text\n      more\n  - >\n    folded\n";
const kubeconfig =
  "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {server: https://a}\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: a, context: &c {cluster: a, user: u}}, {name: b, context: *c}]\n";
const question = "123401000001000000000001036f6e650374776f0000010001000029100000000000000000";
const answer =
  "12348180000100020000000003777777016100000100 01c00c000500010000003c0004016201 61c00c0001000100000e1000040a000001".replaceAll(
    " ",
    "",
  );

const metadata = { name: "a", labels: { a: "b" }, creationTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] };

export const targets: Readonly<Record<string, Target>> = {
  json: {
    seeds: texts(pod, '[1,-2.5e3,"\\ud83d\\ude00\\n",{"a":{"a":null}},12345678901234567890]'),
    errors: [JsonSyntaxError],
    read: (bytes) => parseDocument(bytes.toString()),
  },
  yaml: { seeds: texts(yaml, pod), errors: [YamlSyntaxError], read: (bytes) => parseYaml(bytes.toString()) },
  protobuf: {
    // The first byte chooses the kind.
    seeds: builtIn.map(({ schema }, i) => Buffer.from([i, ...encodeProtobuf(schema, { metadata })])),
    errors: [ProtobufError],
    read: ([which = 0, ...bytes]) => roundTrip(builtIn[which % builtIn.length]?.schema, Buffer.from(bytes)),
  },
  objects: {
    seeds: texts(pod),
    errors: [JsonSyntaxError, DecodeError],
    read: (bytes) => {
      const { value } = parseDocument(bytes.toString());
      return builtIn.filter(({ kind }) => kind === "Pod").map(({ schema }) => decode(schema, value));
    },
  },
  "label selector": {
    seeds: texts("a in (b,c),!d,e!=f,g>1,h notin (x)", "a.b/c=d"),
    errors: [LabelSelectorError],
    read: (bytes) => parseLabelSelector(bytes.toString()),
  },
  "field selector": {
    seeds: texts("metadata.name=a,spec.nodeName!=b\\,c", "a==b"),
    errors: [FieldSelectorError],
    read: (bytes) => parseFieldSelector(bytes.toString()),
  },
  quantity: {
    seeds: texts("1.5Gi", "-100m", "12e6", "+.5E", "1e-9"),
    errors: [QuantityError],
    read: (bytes) => parseQuantity(bytes.toString()),
  },
  duration: {
    seeds: texts("1h2m3.5s", "-10ms", "1.5us"),
    errors: [DurationError],
    read: (bytes) => parseDuration(bytes.toString()),
  },
  time: {
    seeds: texts("2026-11-18T15:00:00Z", "2026-02-28T23:59:59.123456+01:00"),
    errors: [TimeError],
    read: (bytes) => parseTime(bytes.toString()),
  },
  "cron schedule": {
    seeds: texts("*/5 1-3,7 * JAN-MAR mon", "@every 1h30m", "@daily", "TZ=UTC 0 0 1 1 ?"),
    errors: [],
    read: (bytes) => typeof readSchedule(bytes.toString()) !== "string",
  },
  ip: {
    seeds: texts("10.0.0.1/8", "fd00::1/64", "::ffff:1.2.3.4", "127.0.0.1"),
    errors: [],
    read: (bytes) => parseIp(bytes.toString()) ?? parseCidr(bytes.toString()),
  },
  "dns question": { seeds: hex(question), errors: [], read: (bytes) => readQuestion(bytes).ok },
  "dns answer": { seeds: hex(answer), errors: [], read: (bytes) => lifetimesOf(bytes) && recordsOf(bytes) },
  "cni configuration": {
    seeds: texts(
      '{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"bridge","capabilities":{"portMappings":true}},{"type":"p"}]}',
    ),
    errors: [CniError],
    read: (bytes) => parseNetwork(bytes.toString()),
  },
  "signing request": { seeds: [der], errors: [PkiError], read: readSigningRequest },
  "request subject": { seeds: texts(pem), errors: [], read: (bytes) => requestSubject(bytes.toString("base64")) },
  kubeconfig: {
    seeds: texts(kubeconfig),
    errors: [PkiError],
    read: (bytes) => parseKubeconfig("config", bytes.toString()),
  },
  ...http2Targets,
  ...streamTargets,
  ...runtimeTargets,
  ...credentialTargets,
  ...objectTargets,
};

/** What was decoded is encoded to bytes that decode to the same. */
function roundTrip(schema: ObjectSchema | undefined, bytes: Buffer): boolean {
  if (schema === undefined) return false;
  const first = encodeProtobuf(schema, decodeProtobuf(schema, bytes));
  const second = encodeProtobuf(schema, decodeProtobuf(schema, first));
  if (!Buffer.from(first).equals(second)) throw new Error("decodes to something else after it was encoded");
  return true;
}
