import { describe, expect, it } from "vitest";
import type { rbac } from "#api";
import { describeRights, uncovered } from "./covers.ts";

function rule(text: string): rbac.PolicyRule {
  const [verbs = "", groups = "", resources = "", names] = text.split(" ");
  if (resources === "") return { verbs: verbs.split(","), nonResourceURLs: groups.split(",") };
  return {
    verbs: verbs.split(","),
    apiGroups: groups.split(",").map((group) => (group === "core" ? "" : group)),
    resources: resources.split(","),
    ...(names !== undefined && { resourceNames: names.split(",") }),
  };
}

describe("what rules lack of others", () => {
  it.each([
    { held: ["get core pods"], wanted: ["get core pods"], want: "" },
    { held: ["get,list core,apps pods,secrets"], wanted: ["get core pods", "list apps secrets"], want: "" },
    { held: ["* * *"], wanted: ["get core pods/log x"], want: "" },
    { held: ["get core */log"], wanted: ["get core pods/log"], want: "" },
    { held: ["get core pods"], wanted: ["get core pods x"], want: "" },
    { held: ["get /x*"], wanted: ["get /x,/xy,/x/*"], want: "" },
    { held: [], wanted: [], want: "" },
    {
      held: ["get core pods"],
      wanted: ["get,delete,list core pods"],
      want: '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "list"]}',
    },
    {
      held: ["get core pods x"],
      wanted: ["get core pods"],
      want: '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    },
    {
      held: ["get core pods x"],
      wanted: ["get core pods x,y"],
      want: '{APIGroups:[""], Resources:["pods"], ResourceNames:["y"], Verbs:["get"]}',
    },
    // A star is more than every single right.
    {
      held: ["get,list,watch,create,update,patch,delete core pods"],
      wanted: ["* core pods"],
      want: '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}',
    },
    { held: ["get core pods"], wanted: ["get * *"], want: '{APIGroups:["*"], Resources:["*"], Verbs:["get"]}' },
    {
      held: ["get core pods/log"],
      wanted: ["get core */log"],
      want: '{APIGroups:[""], Resources:["*/log"], Verbs:["get"]}',
    },
    { held: ["get /x"], wanted: ["get /x/*"], want: '{NonResourceURLs:["/x/*"], Verbs:["get"]}' },
    { held: ["* * *"], wanted: ["get /x"], want: '{NonResourceURLs:["/x"], Verbs:["get"]}' },
    {
      held: [],
      wanted: ["get apps b,a", "get core z", "list apps a"],
      want: [
        '{APIGroups:[""], Resources:["z"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["a"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["b"], Verbs:["get"]}',
      ].join("\n"),
    },
  ])("$held of $wanted", ({ held, wanted, want }) => {
    expect(describeRights(uncovered(held.map(rule), wanted.map(rule)))).toBe(want);
  });
});
