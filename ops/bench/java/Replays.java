package retail.bench;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Properties;

/**
 * Replays on demand, in one Java: the later ones find it warm.
 *
 * Arguments: a file with what every application is configured with; the topic; the id of its
 * schema; for how long an id is remembered. Each line of the input asks for one replay: its
 * application's id, and the end of each partition. It reads nothing before another line has come.
 * The answer is a line: its seconds.
 */
public class Replays {
    public static void main(String[] arguments) {
        try {
            answer(arguments, new BufferedReader(new InputStreamReader(System.in)));
            System.exit(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void answer(String[] arguments, BufferedReader input) throws Exception {
        int schema = Integer.parseInt(arguments[2]);
        long memoryMs = Long.parseLong(arguments[3]);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            Properties config = config(arguments[0], words[0]);
            Replay replay = new Replay(config, arguments[1], schema, memoryMs, progress(words));
            replay.start();
            input.readLine();
            System.out.println(replay.finish());
        }
    }

    private static Properties config(String file, String application) throws Exception {
        Properties config = new Properties();
        try (InputStream content = new FileInputStream(file)) {
            config.load(content);
        }
        config.put("application.id", application);
        return config;
    }

    private static Progress progress(String[] words) {
        long[] ends = new long[words.length - 1];
        for (int partition = 0; partition < ends.length; partition++) {
            ends[partition] = Long.parseLong(words[partition + 1]);
        }
        return new Progress(ends);
    }
}
