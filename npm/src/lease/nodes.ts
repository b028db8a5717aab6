// The nodes of which a lease takes one.
import { type Layout, type NodeId, nodeText } from "../layout/layout.js";
import { lease } from "../wasm/lease.js";

/**
 * Reads the nodes that a lease may take. Returns them as a text that is the same for the same nodes; undefined for all
 * nodes, also if only a fixed value is given.
 */
export function nodesText(layout: Layout, nodes: NodeId): string | undefined {
  return lease().nodes(String(layout), nodeText(nodes)) || undefined;
}

/** Returns the node of such a text; undefined if the text names several nodes. */
export function onlyNode(nodes: string | undefined): number | undefined {
  return nodes === undefined || Number.isNaN(Number(nodes)) ? undefined : Number(nodes);
}

/** Returns the value of a node field, if all these nodes have the same value there. */
export function nodeField(layout: Layout, nodes: string, field: string): number | undefined {
  return lease().nodeField(String(layout), nodes, field);
}
