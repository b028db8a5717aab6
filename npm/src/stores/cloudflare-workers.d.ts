// The part of Cloudflare's own declarations that snowmint/stores/cloudflare uses. Users of that entry have the full declarations,
// from `wrangler types` or @cloudflare/workers-types.
declare module "cloudflare:workers" {
  interface Storage {
    get<T>(key: string): Promise<T | undefined>;
    put(key: string, value: unknown): Promise<void>;
  }
  export abstract class DurableObject<Env = unknown> {
    protected ctx: {
      storage: Storage & {
        list<T>(options: { prefix: string }): Promise<Map<string, T>>;
        transaction<T>(work: (storage: Storage) => Promise<T>): Promise<T>;
      };
    };
    protected env: Env;
    constructor(ctx: unknown, env: Env);
  }
}
