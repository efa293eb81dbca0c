import { describe, expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { alwaysPullImages } from "./always-pull-images.ts";

const container = (image: string, imagePullPolicy = "Never") => ({ name: "c", image, imagePullPolicy });
const pod = (image = "x") =>
  podObject({
    containers: [container(image)],
    initContainers: [container("i")],
    volumes: [{ name: "v", image: { reference: "r", pullPolicy: "Never" } }],
  });

describe("AlwaysPullImages", () => {
  it("pulls the images of all containers and volumes", async () => {
    const { object, why } = await admit(alwaysPullImages, { object: pod() });
    expect({ why, spec: object.spec }).toMatchObject({
      why: "",
      spec: {
        containers: [{ imagePullPolicy: "Always" }],
        initContainers: [{ imagePullPolicy: "Always" }],
        volumes: [{ image: { pullPolicy: "Always" } }],
      },
    });
  });

  it("leaves a Pod alone that gets no new image, and not one that does", async () => {
    const policy = async (image: string) => {
      const { object } = await admit(alwaysPullImages, { object: pod(image), old: pod() });
      return (object.spec as { containers: { imagePullPolicy: string }[] }).containers[0]?.imagePullPolicy;
    };
    expect([await policy("x"), await policy("y")]).toEqual(["Never", "Always"]);
  });

  it("refuses what was changed back after it", async () => {
    const [validates] = [alwaysPullImages.validates ?? []];
    const plugin = { name: "only validates", validates };
    expect((await admit(plugin, { object: pod() })).why).toBe(
      '[spec.initContainers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always", spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always", spec.volumes[0].image.pullPolicy: Unsupported value: "Never": supported values: "Always"]',
    );
  });
});
