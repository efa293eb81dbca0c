/** What a page may use. */
import { compareQuantities, matcherOfSelector, parseQuantity } from "k8ts/api";

export const fits = (wanted: string, free: string) =>
  compareQuantities(parseQuantity(wanted), parseQuantity(free)) <= 0;

export const selects = (app: string) => matcherOfSelector({ matchLabels: { app } });
