import type { WebrtcTestPage } from "../../../../../contract/services/webrtc-test-page.ts";

/** What the server says of this page. */
export async function fetchPage(signal?: AbortSignal): Promise<WebrtcTestPage> {
  const response = await fetch("/test-page/page.json", { signal: signal ?? null });
  if (!response.ok) throw new Error(response.statusText);
  return (await response.json()) as WebrtcTestPage;
}
