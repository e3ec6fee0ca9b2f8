import { config } from "zod";

// The content security policy forbids `eval`; zod would try it for each schema, and the browser would report that.
config({ jitless: true });
