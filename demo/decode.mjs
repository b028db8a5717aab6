/** Decodes the public IDs: the same code in Node and in a browser. */
export function decoded({ Layout }, publicIds) {
  return publicIds.map(({ layout, id }) => {
    const { timestamp, node, sequence } = Layout.preset(layout).decode(id);
    return `${timestamp.toISOString()} ${node} ${sequence}`;
  });
}
