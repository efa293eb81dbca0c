/**
 * AlwaysPullImages: images are always pulled, so that no Pod uses an image on a node without the credentials to pull
 * it.
 */
import { at, type core, field } from "#api";
import { aggregate } from "../../chain/aggregate.ts";
import { type AdmissionPlugin, type Admit, podOf, refused, rule } from "../../chain/plugin.ts";

const SORTS = ["initContainers", "containers", "ephemeralContainers"] as const;

const pullAlways: Admit = (attributes) => {
  const { spec } = podOf(attributes);
  if (!bringsImages(spec, attributes.old as core.Pod | undefined)) return;
  for (const sort of SORTS) for (const container of spec[sort] ?? []) container.imagePullPolicy = "Always";
  for (const { image } of spec.volumes ?? []) if (image !== undefined) image.pullPolicy = "Always";
};

const pulledAlways: Admit = (attributes) => {
  const { spec } = attributes.object as core.Pod;
  if (spec === undefined || !bringsImages(spec, attributes.old as core.Pod | undefined)) return;
  const path = at("spec");
  const faults = SORTS.flatMap((sort) =>
    (spec[sort] ?? []).map((container, i) => ({
      policy: container.imagePullPolicy,
      where: path.child(sort).index(i).child("imagePullPolicy"),
    })),
  ).concat(
    (spec.volumes ?? []).flatMap(({ image }, i) =>
      image === undefined
        ? []
        : [{ policy: image.pullPolicy, where: path.child("volumes").index(i).child("image", "pullPolicy") }],
    ),
  );
  const errors = faults
    .filter(({ policy }) => policy !== "Always")
    .map(({ policy, where }) => field.fieldErrorText(field.notSupported(where, policy ?? "", ["Always"])));
  if (errors.length > 0) throw refused(attributes, aggregate(errors));
};

export const alwaysPullImages: AdmissionPlugin = {
  name: "AlwaysPullImages",
  mutates: [rule("CREATE UPDATE", "pods", pullAlways)],
  validates: [rule("CREATE UPDATE", "pods", pulledAlways)],
};

/** An update without a new image does not change Pods that existed before the plugin was enabled. */
function bringsImages(spec: core.PodSpec, old: core.Pod | undefined): boolean {
  if (old === undefined) return true;
  const known = new Set(imagesOf(old.spec));
  return imagesOf(spec).some((image) => !known.has(image));
}

function imagesOf(spec: core.PodSpec | undefined): readonly string[] {
  return SORTS.flatMap((sort) => (spec?.[sort] ?? []).map(({ image }) => image ?? ""));
}
