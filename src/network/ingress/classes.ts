/**
 * Which Ingresses are served here: those whose IngressClass names this controller.
 *
 * An Ingress without a class belongs to the default class, if there is one; of several defaults the newest counts, as
 * in admission.
 */
import type { networking } from "#api";

export const CONTROLLER = "k8ts.dev/ingress";
export const CLASS_NAME = "k8ts";
const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";
/** The annotation that preceded spec.ingressClassName. */
const OLD_CLASS = "kubernetes.io/ingress.class";

export interface ClassOptions {
  /** spec.controller of the IngressClasses that are served here. */
  readonly controller: string;
  /** The value of the legacy annotation. */
  readonly className: string;
}

export function servedHere(
  classes: readonly networking.IngressClass[],
  { controller, className }: ClassOptions,
): (ingress: networking.Ingress) => boolean {
  const own = new Set(
    classes.filter(({ spec }) => spec?.controller === controller).map(({ metadata }) => metadata.name ?? ""),
  );
  const [standard] = classes.filter(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true").sort(newestFirst);
  const isStandard = standard !== undefined && own.has(standard.metadata.name ?? "");
  return ({ metadata, spec }) => {
    if (spec?.ingressClassName !== undefined) return own.has(spec.ingressClassName);
    const old = metadata.annotations?.[OLD_CLASS];
    return old === undefined ? isStandard : old === className;
  };
}

function newestFirst({ metadata: a }: networking.IngressClass, { metadata: b }: networking.IngressClass): number {
  const [first = "", second = ""] = [a.creationTimestamp, b.creationTimestamp];
  if (first !== second) return first < second ? 1 : -1;
  return (a.name ?? "") < (b.name ?? "") ? -1 : 1;
}
