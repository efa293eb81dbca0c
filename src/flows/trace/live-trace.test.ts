/** What is told while it happens is what would be told afterwards. */
import { describe, expect, it } from "vitest";
import { rollout, Story } from "../testing/records.ts";
import { LiveTrace } from "./live-trace.ts";
import { type Question, trace } from "./trace.ts";

const names = { deployment: "apps/deployments web", set: "apps/replicasets web-6f7c", pod: "pods web-6f7c-bcdfg" };

function about(text: string, more: Question = {}): Question {
  const [resource = "", name = ""] = text.split(" ");
  return { object: { resource, namespace: "default", name }, ...more };
}

function live(story: Story, question: Question): number[] {
  const following = new LiveTrace(question);
  return story.records.flatMap((record) => following.take(record)).map(({ seq }) => seq);
}

describe("the flow of an object while it goes on", () => {
  it.each<[string, Question]>([
    ["its beginning", about(names.deployment)],
    ["the middle of it: what led there, too", about(names.set)],
    ["one of several", about(names.pod)],
    ["a part of it", about(names.deployment, { depth: 1 })],
    ["nothing", about("pods ghost")],
  ])("of %s", (_, question) => {
    const story = rollout();
    const afterwards = trace(story.records, question).records.map(({ seq }) => seq);
    expect(live(story, question).sort((a, b) => a - b)).toEqual(afterwards.sort((a, b) => a - b));
  });

  it.each([0, 1, 2, 3, 9])("with a depth of %d has no new beginning where it comes back to the object", (depth) => {
    const story = rollout()
      .work({ id: "d2", actor: "deployment-controller", woken: [20] })
      .request({ resource: "apps/deployments", name: "web", subresource: "status", revision: 30, cause: "d2" })
      .work({ id: "late", actor: "someone", woken: [30] })
      .request({ name: "late", revision: 31, cause: "late" });
    const question = about(names.deployment, { depth });
    const afterwards = trace(story.records, question).records.map(({ seq }) => seq);
    expect(live(story, question).sort((a, b) => a - b)).toEqual(afterwards.sort((a, b) => a - b));
  });

  it("leaves out what was only read, unless asked", () => {
    const story = new Story().request({ revision: 1 }).request({ verb: "get", status: 200 });
    expect(live(story, about("pods x"))).toEqual([1]);
    expect(live(story, about("pods x", { reads: true }))).toEqual([1, 2]);
    expect(live(story, {})).toEqual([1]);
  });
});
