import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configMap } from "../testing/index.ts";
import { type DynamicServer, dynamicServer } from "./dynamic/testing/index.ts";
import { mutate, setting, validate } from "./policies/testing/index.ts";
import { type AdmissionWebhook, admissionWebhook, answering, configure, patching } from "./webhooks/testing/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const WEBHOOK = "apiserver_admission_webhook_";
const CONDITION = "apiserver_admission_match_condition_";

let server: DynamicServer;
let hook: AdmissionWebhook;

beforeEach(async () => {
  server = await dynamicServer({ plugins: ["NamespaceLifecycle"] });
  hook = await admissionWebhook();
});
afterEach(async () => {
  await server.close();
  await hook.close();
});

const post = (name = "a", query = "") => server.request("POST", `${MAPS}${query}`, { body: configMap(name) });
/** The values of metrics by their names without what they all begin with. */
const counted = (start: string) => server.metrics(start).map((line) => line.slice(start.length));

describe("metrics of the chain", () => {
  it("count steps and plugins, once for each plugin", async () => {
    const before = new Set(server.metrics("apiserver_admission_"));
    expect((await post()).status).toBe(201);
    const missing = "/api/v1/namespaces/none/configmaps";
    expect((await server.request("POST", missing, { body: configMap("a") })).status).toBe(404);
    const grown = server.metrics("apiserver_admission_").filter((line) => !before.has(line) && !line.endsWith(" 0"));
    const plugin = 'apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle"';
    expect(grown.filter((line) => line.startsWith(plugin))).toEqual([
      `${plugin},type="admit",operation="CREATE",rejected="false"} 1`,
      `${plugin},type="admit",operation="CREATE",rejected="true"} 1`,
    ]);
    const step = "apiserver_admission_step_admission_duration_seconds_count";
    expect(grown.filter((line) => line.startsWith(step))).toEqual([
      `${step}{type="admit",operation="CREATE",rejected="false"} 2`,
      `${step}{type="admit",operation="CREATE",rejected="true"} 1`,
      `${step}{type="validate",operation="CREATE",rejected="false"} 2`,
    ]);
  });
});

describe("metrics of webhooks", () => {
  const labels = 'name="w.example.com",type="validating"';
  it.each<{ name: string; behave: () => void; more: object; query?: string; want: readonly string[] }>([
    {
      name: "allowed",
      behave: () => {},
      more: {},
      want: [
        `admission_duration_seconds_count{${labels},operation="CREATE",rejected="false"} 1`,
        `request_total{${labels},operation="CREATE",code="200",rejected="false"} 1`,
      ],
    },
    {
      name: "denied, with a code that is none",
      behave: () => hook.behave((review) => answering(review, { allowed: false, status: { code: 999 } })),
      more: {},
      want: [
        `admission_duration_seconds_count{${labels},operation="CREATE",rejected="true"} 1`,
        `request_total{${labels},operation="CREATE",code="600",rejected="true"} 1`,
        `rejection_count{${labels},operation="CREATE",error_type="no_error",rejection_code="600"} 1`,
      ],
    },
    {
      name: "failed",
      behave: () => hook.behave(() => ({ status: 502, text: "no" })),
      more: {},
      want: [
        `admission_duration_seconds_count{${labels},operation="CREATE",rejected="true"} 1`,
        `request_total{${labels},operation="CREATE",code="502",rejected="true"} 1`,
        `rejection_count{${labels},operation="CREATE",error_type="calling_webhook_error",rejection_code="502"} 1`,
      ],
    },
    {
      name: "failed, and ignored",
      behave: () => hook.behave(() => "nonsense"),
      more: { failurePolicy: "Ignore" },
      want: [
        `admission_duration_seconds_count{${labels},operation="CREATE",rejected="false"} 1`,
        `request_total{${labels},operation="CREATE",code="503",rejected="false"} 1`,
        `fail_open_count{${labels}} 1`,
      ],
    },
  ])("$name", async ({ behave, more, query, want }) => {
    await configure(server, "validating", "w", hook, more);
    behave();
    await post("a", query);
    expect(counted(WEBHOOK)).toEqual(want);
  });

  it("of mutating ones count a patch that cannot be applied", async () => {
    await configure(server, "mutating", "w", hook);
    hook.behave((review) => patching(review, { op: "remove", path: "/data/none" }));
    expect((await post()).status).toBe(500);
    const about = 'name="w.example.com",type="admit",operation="CREATE"';
    expect(counted(WEBHOOK)).toContain(
      `rejection_count{${about},error_type="apiserver_internal_error",rejection_code="0"} 1`,
    );
  });

  it.each([
    { expression: "true", want: [] },
    { expression: "false", want: ["exclusions_total"] },
    { expression: "object.data.none == ''", want: ["evaluation_errors_total"] },
  ])("of match conditions: $expression", async ({ expression, want }) => {
    await configure(server, "validating", "w", hook, { matchConditions: [{ name: "c", expression }] });
    await post();
    const about = '{name="w.example.com",kind="webhook",type="validate",operation="CREATE"} 1';
    expect(counted(CONDITION).sort()).toEqual(
      [`evaluation_seconds_count${about}`, ...want.map((name) => `${name}${about}`)].sort(),
    );
    expect(server.metrics("apiserver_cel_")).toEqual([
      "apiserver_cel_compilation_duration_seconds_count 1",
      "apiserver_cel_evaluation_duration_seconds_count 1",
    ]);
  });
});

describe("metrics of policies", () => {
  const CHECK = "apiserver_validating_admission_policy_check_total";
  it.each<{ name: string; spec: object; actions: readonly string[]; want: readonly string[] }>([
    { name: "that hold", spec: { validations: [{ expression: "true" }] }, actions: ["Deny"], want: [] },
    {
      name: "that deny",
      spec: { validations: [{ expression: "false" }] },
      actions: ["Deny"],
      want: ['error_type="invalid_error",enforcement_action="deny"} 1'],
    },
    {
      name: "that warn and audit",
      spec: { validations: [{ expression: "false" }] },
      actions: ["Warn", "Audit"],
      want: [
        'error_type="invalid_error",enforcement_action="warn"} 1',
        'error_type="invalid_error",enforcement_action="audit"} 1',
      ],
    },
    {
      name: "that fail and are ignored",
      spec: { validations: [{ expression: "object.data.none == ''" }], failurePolicy: "Ignore" },
      actions: ["Deny"],
      want: ['error_type="invalid_error",enforcement_action="allow"} 1'],
    },
  ])("$name", async ({ spec, actions, want }) => {
    await validate(server, spec, { validationActions: actions });
    await post();
    const start = `${CHECK}{policy="p",policy_binding="p",`;
    expect(server.metrics(CHECK)).toEqual(want.map((rest) => start + rest));
    const durations = "apiserver_validating_admission_policy_check_duration_seconds_count";
    expect(server.metrics(durations)).toHaveLength(want.length);
  });

  it("that mutate, and their conditions", async () => {
    const condition = { name: "c", expression: "object.metadata.name == 'a'" };
    await mutate(server, { mutations: [setting("Object{}")], matchConditions: [condition] });
    await post("a");
    await post("b");
    expect(server.metrics("apiserver_mutating_admission_policy_check_total")).toEqual([
      'apiserver_mutating_admission_policy_check_total{policy="p",policy_binding="p",error_type="no_error"} 1',
    ]);
    const about = '{name="p",kind="policy",type="admit",operation="CREATE"}';
    expect(counted(CONDITION)).toEqual([`evaluation_seconds_count${about} 2`, `exclusions_total${about} 1`]);
  });
});
