import { useMemo } from "react";
import { type HeaderList, type HttpBody, headerValue, wholeBytes } from "../../../../contract/traffic/http.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../viewer/decode/bytes.ts";

interface HttpBodyViewerProps {
  readonly of: "request" | "response" | "answer";
  /** Method and target; a chosen format is remembered for them, without the query. */
  readonly route: string;
  readonly body: HttpBody;
  readonly headers: HeaderList;
  readonly emptyText: string;
}

/** The body of a request or of its answer, as its headers describe it. */
export function HttpBodyViewer({ of, route, body, headers, emptyText }: HttpBodyViewerProps) {
  const content = useMemo(
    () => ({
      bytes: fromBase64(body.base64),
      totalBytes: wholeBytes({ body, headers }),
      receivedBytes: body.bytes,
      hiddenIn: body.hiddenIn,
      overBudget: body.overBudget,
    }),
    [body, headers],
  );
  return (
    <ContentViewer
      of={of}
      content={content}
      contentType={headerValue(headers, "content-type")}
      contentEncoding={headerValue(headers, "content-encoding")}
      rememberAs={`http ${route.split("?", 1)[0]} ${of}`}
      emptyText={body.isPart ? "It ended before the body was read." : emptyText}
      {...(body.hiddenIn !== undefined && { facts: "see “Record credentials” in Config" })}
      // An answer in Try is complete, or its head says why not.
      {...(of !== "answer" && { cutBy: "Recorded body", restBy: "Recorded rest of bodies" })}
    />
  );
}
