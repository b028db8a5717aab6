// Mints five IDs of a node, and decodes the public IDs: the same in Node and in a browser.

export function demo({ Layout, Snowflake }, publicIds, node) {
  const gen = new Snowflake({ layout: "twitter", node });
  const minted = Array.from({ length: 5 }, () => String(gen.nextId()));
  const decoded = publicIds.map(({ layout, id }) => {
    const parts = Layout.preset(layout).decode(id);
    return `${parts.timestamp.toISOString()} node ${parts.node} sequence ${parts.sequence}`;
  });
  return { minted, decoded };
}
