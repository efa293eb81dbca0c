import { expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { Json } from "../json/json.ts";
import { decode } from "./decode.ts";
import { cloneSent, keepMarks, sentList, sentMap, wasSentEmpty } from "./empty-lists.ts";
import { applyStoredForm } from "./stored-form.ts";

const schema = typeSchema("io.k8s.api.networking.v1.Ingress");
const decoded = (spec: Json) => decode(schema, { spec }).value as { spec: { rules?: Json[]; tls?: Json[] } };

it.each<[Json, Json]>([
  [{ rules: [] }, []],
  [{ rules: null }, null],
  [{}, null],
  [{ rules: [{ host: "a" }] }, [{ host: "a" }]],
  // Its fields are put in order.
  [{ tls: [{ secretName: "s" }], rules: [], ingressClassName: "c" }, []],
])("%j has the rules %j", (spec, want) => expect(sentList(decoded(spec).spec, "rules")).toEqual(want));

it("nobody else sees the difference", () => {
  const [empty, absent] = [decoded({ rules: [] }), decoded({})];
  expect(empty).toEqual(absent);
  expect(JSON.stringify({ ...empty })).toBe(JSON.stringify(absent));
  expect(structuredClone(empty)).toEqual(absent);
  expect(cloneSent(empty)).toEqual(absent);
});

it("a copy of what was sent tells the same, and forgets by itself", () => {
  const sent = decoded({ rules: [], tls: [{ hosts: [] }] });
  const copy = cloneSent(sent);
  applyStoredForm(schema, sent as never);
  expect(sentList(copy.spec, "rules")).toEqual([]);
  expect(sentMap(decoded({}).spec as { rules?: Json }, "rules")).toBeNull();
  applyStoredForm(schema, copy as never);
  expect(sentList(copy.spec, "rules")).toBeNull();
  expect(cloneSent(copy)).toEqual(copy);
});

it("what is stored does not tell", () => {
  const draft = decoded({ rules: [], tls: [{ hosts: [] }] });
  const { spec } = draft;
  expect([wasSentEmpty(spec, "rules"), wasSentEmpty(spec.tls?.[0] as object, "hosts")]).toEqual([true, true]);
  applyStoredForm(schema, draft as never);
  expect([wasSentEmpty(spec, "rules"), wasSentEmpty(spec.tls?.[0] as object, "hosts")]).toEqual([false, false]);
});

it("a copy by hand keeps the marks of fields that it does not set", () => {
  const { spec } = decoded({ rules: [], tls: [] });
  const copy = keepMarks({ ...spec, tls: undefined }, spec);
  expect([wasSentEmpty(copy, "rules"), wasSentEmpty(copy, "tls")]).toEqual([true, false]);
});
