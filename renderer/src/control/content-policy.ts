/** What the page needs under its content security policy; imported first. */
import { config } from "zod";

// The content security policy forbids `eval`; zod would try it for each schema, and the browser would report that.
config({ jitless: true });

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createHTML: (text: string) => string | null; readonly createScriptURL: (url: string) => string | null },
  ): unknown;
}

/** Absent in older browsers. */
const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypes };

const isOwn = ({ protocol, host }: URL): boolean => protocol === location.protocol && host === location.host;

// The content security policy lets text become HTML or the address of a script by this policy only (Trusted Types). React writes
// Mantine's style elements as HTML: rules have no markup. The worker of the viewer is a file of the dashboard.
trustedTypes?.createPolicy("default", {
  createHTML: (text) => (text.includes("<") ? null : text),
  createScriptURL: (url) => (isOwn(new URL(url, location.href)) ? url : null),
});
