import { expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { Json } from "../json/json.ts";
import { decode } from "./decode.ts";
import { sentList, wasSentEmpty } from "./empty-lists.ts";
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
});

it("what is stored does not tell", () => {
  const draft = decoded({ rules: [], tls: [{ hosts: [] }] });
  const { spec } = draft;
  expect([wasSentEmpty(spec, "rules"), wasSentEmpty(spec.tls?.[0] as object, "hosts")]).toEqual([true, true]);
  applyStoredForm(schema, draft as never);
  expect([wasSentEmpty(spec, "rules"), wasSentEmpty(spec.tls?.[0] as object, "hosts")]).toEqual([false, false]);
});
