import { z } from "zod";
import { type CopyFormat, copyAs, copyFormats } from "../../inspectors/http/copy-as.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { SameAs } from "./same-as.tsx";
import { replayOfTry, type TryRequest } from "./try-request.ts";

const languages: readonly { readonly value: CopyFormat; readonly label: string }[] = [
  { value: "curl", label: "curl" },
  { value: "javascript", label: "JavaScript" },
  { value: "python", label: "Python" },
];

export function TryCommands({ request, origin }: { readonly request: TryRequest; readonly origin: string }) {
  const [language, setLanguage] = useRemembered<CopyFormat>("try.language", "curl", z.enum(copyFormats));
  const text = copyAs(language, replayOfTry(request, origin));
  return <SameAs languages={languages} language={language} onLanguage={setLanguage} text={text} copies="the command" />;
}
