/** Sample traffic of a service: each has these actions and this view, by which the shared parts of the dashboard switch and show it. */
import { z } from "zod";
import { operation } from "./operation.ts";

export const sampleActions = {
  /** Sends plausible requests or messages until it is turned off, so that a new user sees traffic. A service may take optional parameters. */
  "sample.start": operation<null>()(z.strictObject({})),
  "sample.stop": operation<null>()(z.strictObject({})),
};

/** Clients of sample traffic have it in their User-Agent, after the software that they stand for. */
export const sampleAgent = "Backlot-sample";

export const isSampleAgent = (userAgent: string): boolean => userAgent.includes(sampleAgent);

/** The views of every service: `interface EchoViews extends SampleViews`. */
export interface SampleViews<Params extends object = object> {
  /** `params`: those that it was started with. */
  readonly sample: { readonly running: false } | { readonly running: true; readonly params: Params };
}
