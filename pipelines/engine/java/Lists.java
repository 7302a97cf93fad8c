package retail;

import java.util.List;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Lists of Java as those of Scala, and the other way round. */
public final class Lists {
    private Lists() {}

    public static <A> List<A> toJava(Seq<A> items) {
        return CollectionConverters.asJava(items);
    }

    @SafeVarargs
    public static <A> Seq<A> toScala(A... items) {
        return CollectionConverters.asScala(List.of(items).iterator()).toSeq();
    }
}
